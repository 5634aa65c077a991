//! Connections to either database, and everything in which the two differ.

use std::str::FromStr;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, PgPool, Postgres, Sqlite, SqlitePool, Transaction};

use super::query::{Query, Row, Value};
use crate::{Error, Result};

/// How long a statement waits for a connection, or for another process's lock on the file.
const PATIENCE: Duration = Duration::from_secs(10);
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 10;

/// The open database.
#[derive(Debug, Clone)]
pub(crate) enum Pools {
    /// One connection writes, several read beside it. In memory there is only one for both.
    Sqlite {
        reader: SqlitePool,
        writer: SqlitePool,
    },
    Postgres(PgPool),
}

/// One connection, with or without a transaction (which is rolled back when it is dropped).
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
    SqliteTransaction(Transaction<'static, Sqlite>),
    PostgresTransaction(Transaction<'static, Postgres>),
}

impl Pools {
    /// Opens the database at `url`, creating an SQLite file that does not exist.
    pub(crate) async fn open(url: &str) -> Result<Self> {
        match url.split(':').next() {
            Some("sqlite") => open_sqlite(url).await,
            Some("postgres" | "postgresql") => open_postgres(url).await,
            _ => Err(Error::Address(url.to_owned())),
        }
    }

    /// Brings the schema up to date. Several brokers may do this at once.
    pub(crate) async fn migrate(&self) -> Result<()> {
        let migrations = sqlx::migrate!();
        match self {
            Self::Sqlite { writer, .. } => migrations.run(writer).await?,
            Self::Postgres(pool) => migrations.run(pool).await?,
        }
        Ok(())
    }

    /// A connection to read from; every statement sees what is committed by then.
    pub(crate) async fn reader(&self) -> Result<Connection> {
        Ok(match self {
            Self::Sqlite { reader, .. } => Connection::Sqlite(reader.acquire().await?),
            Self::Postgres(pool) => Connection::Postgres(pool.acquire().await?),
        })
    }

    /// A transaction to read from, in which every statement sees the same moment.
    pub(crate) async fn snapshot(&self) -> Result<Connection> {
        Ok(match self {
            Self::Sqlite { reader, .. } => Connection::SqliteTransaction(reader.begin().await?),
            Self::Postgres(pool) => Connection::PostgresTransaction(
                pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    .await?,
            ),
        })
    }

    /// A transaction to write in.
    pub(crate) async fn writer(&self) -> Result<Connection> {
        Ok(match self {
            // A transaction that begins as a reader may fail when it turns writer.
            Self::Sqlite { writer, .. } => {
                Connection::SqliteTransaction(writer.begin_with("BEGIN IMMEDIATE").await?)
            }
            Self::Postgres(pool) => Connection::PostgresTransaction(pool.begin().await?),
        })
    }

    /// Hears what other processes announce; SQLite belongs to one process.
    pub(crate) async fn listener(&self, channel: &str) -> Result<Option<PgListener>> {
        let Self::Postgres(pool) = self else {
            return Ok(None);
        };
        let mut listener = PgListener::connect_with(pool).await?;
        listener.ignore_pool_close_event(false);
        listener.listen(channel).await?;
        Ok(Some(listener))
    }

    /// Closes every connection, when those in use have been given back.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { reader, writer } => {
                reader.close().await;
                writer.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

async fn open_sqlite(url: &str) -> Result<Pools> {
    let options = SqliteConnectOptions::from_str(url)?
        .create_if_missing(true)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        // In WAL mode NORMAL loses the last commits in a power cut; FULL does not.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(PATIENCE);
    let in_memory = url.contains(":memory:");
    let lasting = SqlitePoolOptions::new()
        .acquire_timeout(PATIENCE)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None);
    let writer = lasting.clone().min_connections(1).max_connections(1);
    let writer = writer.connect_with(options.clone()).await?;
    let reader = if in_memory {
        writer.clone()
    } else {
        lasting
            .max_connections(SQLITE_READERS)
            .connect_with(options.read_only(true))
            .await?
    };
    Ok(Pools::Sqlite { reader, writer })
}

async fn open_postgres(url: &str) -> Result<Pools> {
    let options = PgConnectOptions::from_str(url)?.application_name("evenkeel");
    let pool = PgPoolOptions::new()
        .max_connections(POSTGRES_CONNECTIONS)
        .acquire_timeout(PATIENCE)
        .after_connect(|connection, _| Box::pin(insist_on_durability(connection)))
        .connect_with(options)
        .await?;
    Ok(Pools::Postgres(pool))
}

/// What is acknowledged is on disk, whatever the server's default; stronger settings stay.
async fn insist_on_durability(connection: &mut sqlx::PgConnection) -> sqlx::Result<()> {
    sqlx::query(
        "SELECT set_config('synchronous_commit', 'on', false) \
         WHERE current_setting('synchronous_commit') IN ('off', 'local')",
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The sqlx query of ours, for whichever database the context asks for.
macro_rules! bound {
    ($query:expr) => {{
        let Query { text, values } = $query;
        let mut query = sqlx::query(text);
        for value in values {
            query = match value {
                Value::Integer(value) => query.bind(value),
                Value::Boolean(value) => query.bind(value),
                Value::Text(value) => query.bind(value),
                Value::Uuid(value) => query.bind(value),
                Value::Bytes(value) => query.bind(value),
            };
        }
        query
    }};
}

impl Connection {
    /// Runs a statement and gives the number of rows it touched.
    pub(crate) async fn run(&mut self, query: Query) -> Result<u64> {
        Ok(match self {
            Self::Sqlite(c) => bound!(query).execute(&mut **c).await?.rows_affected(),
            Self::Postgres(c) => bound!(query).execute(&mut **c).await?.rows_affected(),
            Self::SqliteTransaction(c) => bound!(query).execute(&mut **c).await?.rows_affected(),
            Self::PostgresTransaction(c) => bound!(query).execute(&mut **c).await?.rows_affected(),
        })
    }

    /// Runs a statement and gives its rows.
    pub(crate) async fn all(&mut self, query: Query) -> Result<Vec<Row>> {
        Ok(match self {
            Self::Sqlite(c) => wrap(bound!(query).fetch_all(&mut **c).await?, Row::Sqlite),
            Self::Postgres(c) => wrap(bound!(query).fetch_all(&mut **c).await?, Row::Postgres),
            Self::SqliteTransaction(c) => {
                wrap(bound!(query).fetch_all(&mut **c).await?, Row::Sqlite)
            }
            Self::PostgresTransaction(c) => {
                wrap(bound!(query).fetch_all(&mut **c).await?, Row::Postgres)
            }
        })
    }

    /// Runs a statement and gives its first row.
    pub(crate) async fn one(&mut self, query: Query) -> Result<Option<Row>> {
        Ok(self.all(query).await?.into_iter().next())
    }

    /// Runs a statement that takes no values and is not worth preparing.
    pub(crate) async fn command(&mut self, text: &'static str) -> Result<()> {
        let text = sqlx::raw_sql(AssertSqlSafe(text));
        match self {
            Self::Sqlite(c) => text.execute(&mut **c).await.map(|_| ())?,
            Self::Postgres(c) => text.execute(&mut **c).await.map(|_| ())?,
            Self::SqliteTransaction(c) => text.execute(&mut **c).await.map(|_| ())?,
            Self::PostgresTransaction(c) => text.execute(&mut **c).await.map(|_| ())?,
        }
        Ok(())
    }

    /// Ends a transaction; without one there is nothing to do.
    pub(crate) async fn commit(self) -> sqlx::Result<()> {
        match self {
            Self::Sqlite(_) | Self::Postgres(_) => Ok(()),
            Self::SqliteTransaction(transaction) => transaction.commit().await,
            Self::PostgresTransaction(transaction) => transaction.commit().await,
        }
    }

    /// Makes other writers, also of other processes, wait until this transaction ends. On SQLite
    /// they wait already.
    pub(crate) fn lock_ledger(&self) -> &'static str {
        match self {
            Self::Sqlite(_) | Self::SqliteTransaction(_) => "SELECT * FROM ledger",
            Self::Postgres(_) | Self::PostgresTransaction(_) => "SELECT * FROM ledger FOR UPDATE",
        }
    }

    /// What tells other processes, when the transaction commits, how far the changes go.
    pub(crate) fn announcement(&self) -> Option<Query> {
        match self {
            Self::Sqlite(_) | Self::SqliteTransaction(_) => None,
            Self::Postgres(_) | Self::PostgresTransaction(_) => {
                Some(super::sql("SELECT pg_notify($1, $2)"))
            }
        }
    }
}

fn wrap<R>(rows: Vec<R>, wrap: impl Fn(R) -> Row) -> Vec<Row> {
    rows.into_iter().map(wrap).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sql;
    use super::*;
    use evenkeel_testkit::Postgres;

    async fn setting<T: super::super::Stored>(pools: &Pools, text: &'static str, name: &str) -> T {
        let mut connection = pools.writer().await.unwrap();
        let row = connection.one(sql(text)).await.unwrap().unwrap();
        row.get(name).unwrap()
    }

    #[tokio::test]
    async fn sqlite_waits_for_the_disk() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/x.db", directory.path().display());
        let pools = Pools::open(&url).await.unwrap();
        let journal: String = setting(&pools, "PRAGMA journal_mode", "journal_mode").await;
        let synchronous: i64 = setting(&pools, "PRAGMA synchronous", "synchronous").await;
        assert_eq!((journal.as_str(), synchronous), ("wal", 2), "2 is FULL");
    }

    #[tokio::test]
    async fn postgres_waits_for_the_disk_whatever_its_default() {
        let url = match Postgres::shared().await {
            Ok(server) => server.database().await.unwrap(),
            Err(error) => return evenkeel_testkit::skip(&error),
        };
        let careless = format!("{url}?options=-c%20synchronous_commit%3Doff");
        let pools = Pools::open(&careless).await.unwrap();
        let text = "SELECT current_setting('synchronous_commit') AS it";
        assert_eq!(setting::<String>(&pools, text, "it").await, "on");
    }
}
