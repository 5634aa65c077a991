#!/bin/sh
# Starts one server of a Database. The first one is the primary; the others clone it and follow it.
#
# Every step may be cut off and run again: a data directory gets its name only when it is whole.
set -eu
umask 077

: "${PGDATA:?}" "${PGPORT:?}" "${POD_NAME:?}" "${PRIMARY_HOST:?}"
: "${DATABASE_NAME:?}" "${DATABASE_OWNER:?}"
: "${CONFIG_DIR:?}" "${CREDENTIALS_DIR:?}" "${RUN_DIR:?}"

replication=evenkeel_replication
passfile=$RUN_DIR/passfile
fresh=$PGDATA.new

say() {
    echo "start: $*"
}

# A text as an SQL literal.
literal() {
    printf "'%s'" "$(sed "s/'/''/g" "$1")"
}

initialise() {
    say "initialise an empty data directory"
    rm -rf "$fresh"
    initdb --pgdata="$fresh" --username=postgres --encoding=UTF8 --locale=C.UTF-8 \
        --auth-local=trust --auth-host=scram-sha-256 --data-checksums
    # In single-user mode a statement ends with an empty line.
    postgres --single -j -D "$fresh" -c password_encryption=scram-sha-256 postgres >/dev/null <<SQL
CREATE ROLE "$DATABASE_OWNER" LOGIN PASSWORD $(literal "$CREDENTIALS_DIR/password");

CREATE ROLE "$replication" LOGIN REPLICATION PASSWORD $(literal "$CREDENTIALS_DIR/replication-password");

CREATE DATABASE "$DATABASE_NAME" OWNER "$DATABASE_OWNER";

SQL
    mv "$fresh" "$PGDATA"
}

clone() {
    say "clone the primary at $PRIMARY_HOST:$PGPORT"
    until pg_isready -q -h "$PRIMARY_HOST" -p "$PGPORT"; do
        sleep 1
    done
    rm -rf "$fresh"
    pg_basebackup --pgdata="$fresh" --wal-method=stream --checkpoint=fast --no-password \
        --dbname="$(follow)"
    touch "$fresh/standby.signal"
    mv "$fresh" "$PGDATA"
}

# How a standby reaches the primary.
follow() {
    echo "host=$PRIMARY_HOST port=$PGPORT user=$replication passfile=$passfile application_name=$POD_NAME"
}

write_passfile() {
    printf '*:*:*:%s:%s\n' "$replication" "$(cat "$CREDENTIALS_DIR/replication-password")" >"$passfile"
}

serve() {
    exec postgres -D "$PGDATA" \
        -c config_file="$CONFIG_DIR/postgresql.conf" \
        -c hba_file="$CONFIG_DIR/pg_hba.conf" \
        -c unix_socket_directories="$RUN_DIR" "$@"
}

mkdir -p "$(dirname "$PGDATA")" "$RUN_DIR"
write_passfile

if [ "${POD_NAME##*-}" = 0 ]; then
    [ -s "$PGDATA/PG_VERSION" ] || initialise
    say "serve as primary"
    serve
else
    [ -s "$PGDATA/PG_VERSION" ] || clone
    say "serve as standby of $PRIMARY_HOST"
    serve -c primary_conninfo="$(follow)"
fi
