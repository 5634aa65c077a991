//! A new password in a running server.

use std::future::Future;
use std::io;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{ConnectOptions, Connection};

use crate::credentials::{Exchange, host};
use crate::resource::Database;

/// How long the server may take to answer; other work waits for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why the server did not take the new password.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// It takes neither of the two: somebody changed the password by hand.
    #[error("the server takes neither the password in use nor the next one")]
    NeitherWorks,
    /// It cannot be reached or cannot do it now.
    #[error("change the password of {user} at {host}")]
    Server {
        /// The role.
        user: String,
        /// The server.
        host: String,
        /// Why not.
        source: sqlx::Error,
    },
}

/// Somebody who can change a password in the server of a Database.
pub trait Passwords: Send + Sync + 'static {
    /// Makes the next password the one that works. Doing it twice is as good as once.
    fn exchange(
        &self,
        database: &Database,
        exchange: &Exchange,
    ) -> impl Future<Output = Result<(), PasswordError>> + Send;
}

/// Connects to the Service of the primary.
#[derive(Debug, Clone, Copy, Default)]
pub struct OverTheNetwork;

impl Passwords for OverTheNetwork {
    async fn exchange(
        &self,
        database: &Database,
        exchange: &Exchange,
    ) -> Result<(), PasswordError> {
        let port = u16::try_from(database.spec.port).unwrap_or_default();
        let server = PgConnectOptions::new_without_pgpass()
            .host(&host(database))
            .port(port)
            .ssl_mode(PgSslMode::Prefer)
            .username(&database.spec.owner)
            .database(&database.spec.database);
        exchange_at(server, exchange).await
    }
}

/// Makes the next password the one that works, at this server.
///
/// # Errors
/// If the server cannot be reached, or takes neither password.
pub async fn exchange_at(
    server: PgConnectOptions,
    exchange: &Exchange,
) -> Result<(), PasswordError> {
    let failed = |source| PasswordError::Server {
        user: server.get_username().to_owned(),
        host: server.get_host().to_owned(),
        source,
    };
    let connection = match log_in(&server, &exchange.old).await {
        Ok(connection) => connection,
        Err(error) if is_refused(&error) => {
            // The server may have taken it before a crash.
            return match log_in(&server, &exchange.next).await {
                Ok(connection) => connection.close().await.map_err(failed),
                Err(error) if is_refused(&error) => Err(PasswordError::NeitherWorks),
                Err(error) => Err(failed(error)),
            };
        }
        Err(error) => return Err(failed(error)),
    };
    change(connection, &exchange.next).await.map_err(failed)
}

async fn log_in(server: &PgConnectOptions, password: &str) -> sqlx::Result<PgConnection> {
    in_time(server.clone().password(password).connect()).await
}

/// The answer, unless it takes too long.
async fn in_time<T>(asked: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    let late = |_| sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
    tokio::time::timeout(PATIENCE, asked).await.map_err(late)?
}

async fn change(mut connection: PgConnection, next: &str) -> sqlx::Result<()> {
    // A role may always change its own password; the statement takes no parameters.
    let sql = format!("ALTER ROLE CURRENT_USER PASSWORD {}", literal(next));
    in_time(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection)).await?;
    connection.close().await
}

/// A text as an SQL literal that no setting of the server reads differently.
fn literal(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{escaped}'")
}

/// Whether the password was wrong.
fn is_refused(error: &sqlx::Error) -> bool {
    let code = error
        .as_database_error()
        .and_then(|error| error.code().map(String::from));
    matches!(code.as_deref(), Some("28P01" | "28000"))
}
