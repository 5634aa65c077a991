# Runs one program for as long as standard input stays open, then ends it and removes its
# directory. The pipe closes with the process that holds its other end, however that one dies:
# a panic, `kill -9` or the end of the terminal all lead here.
#
#   sh -c "$(cat guard.sh)" guard DIRECTORY SIGNAL PROGRAM ARGUMENT...
#
# The program's output goes to DIRECTORY/log, and its exit code to DIRECTORY/exited when it ends
# before it was told to. The last guard to leave removes the directory above, too.
directory=$1
signal=$2
shift 2

exec 3<&0
"$@" </dev/null 3<&- >"$directory/log" 2>&1 &
child=$!

{
    while read -r _ <&3; do :; done
    kill -s "$signal" "$child" 2>/dev/null
    rounds=0
    while [ "$rounds" -lt 500 ] && kill -0 "$child" 2>/dev/null; do
        sleep 0.02
        rounds=$((rounds + 1))
    done
    kill -s KILL "$child" 2>/dev/null
} &
watcher=$!

wait "$child"
echo "$?" >"$directory/exited"
wait "$watcher"
rm -rf "$directory"
rmdir "$(dirname "$directory")" 2>/dev/null
exit 0
