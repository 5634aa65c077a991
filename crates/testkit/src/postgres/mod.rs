//! A private PostgreSQL, from the machine's own packages.

mod programs;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use thiserror::Error;
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::environment;
use crate::process::{Guarded, Nest, ProcessError, StopSignal, free_port};

pub use programs::{Programs, Running};
use programs::{ServerUser, find_binaries, run};

/// Why there is no PostgreSQL for a test.
#[derive(Debug, Error)]
pub enum PostgresError {
    /// The packages are missing.
    #[error("no PostgreSQL under /usr/lib/postgresql (Debian's package is called postgresql)")]
    NotInstalled,
    /// One of its programs failed.
    #[error("{program} failed: {output}")]
    Tool {
        /// The program.
        program: String,
        /// What it said.
        output: String,
    },
    /// The server did not come up.
    #[error("start PostgreSQL")]
    Process(#[from] ProcessError),
    /// Files could not be given to the user that runs the server.
    #[error("prepare the directory of PostgreSQL")]
    Files(#[from] std::io::Error),
}

/// How careful the server is with what it stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives the death of its clients and of itself, not of the machine. For tests.
    Process,
    /// Writes reach the disk before they are acknowledged. For measurements.
    Disk,
}

/// A PostgreSQL server that ends with the value (or with the process, however that dies).
#[derive(Debug)]
pub struct Postgres {
    url: String,
    psql: PathBuf,
    next: AtomicU32,
    // Dropped in this order: the server first, then its directory.
    server: Option<(Guarded, Nest)>,
}

impl Postgres {
    /// Starts a server with an empty database called `postgres`, or takes the one that
    /// `EVENKEEL_TEST_POSTGRES` names.
    pub async fn start() -> Result<Self, PostgresError> {
        match environment::variable("EVENKEEL_TEST_POSTGRES") {
            Some(url) => Ok(Self::at(url)),
            None => Self::start_private(Durability::Process).await,
        }
    }

    /// Starts a server of our own in any case.
    pub async fn start_private(durability: Durability) -> Result<Self, PostgresError> {
        let binaries = find_binaries().ok_or(PostgresError::NotInstalled)?;
        let nest = Nest::new("postgres")?;
        let room = nest.room("server")?;
        let user = ServerUser::find(nest.path()).await?;
        user.take(nest.path(), &room)?;
        let data = room.join("data");
        init_database(&binaries, &data, &user).await?;
        let port = free_port();
        let server = serve(&binaries, room, &data, port, durability, &user)?;
        let accepts = async || {
            let port = port.to_string();
            let arguments = ["-q", "-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
            run(Command::new(binaries.join("pg_isready")).args(arguments))
                .await
                .is_ok()
        };
        server.ready(Duration::from_secs(60), accepts).await?;
        Ok(Self {
            url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            psql: binaries.join("psql"),
            next: AtomicU32::new(0),
            server: Some((server, nest)),
        })
    }

    /// One server for all tests of this process; it ends when the process does. Give each test
    /// its own [`Postgres::database`].
    pub async fn shared() -> Result<&'static Self, PostgresError> {
        static SHARED: OnceCell<Postgres> = OnceCell::const_new();
        SHARED.get_or_try_init(Self::start).await
    }

    fn at(url: String) -> Self {
        let psql = find_binaries().map_or_else(|| PathBuf::from("psql"), |path| path.join("psql"));
        Self {
            url,
            psql,
            next: AtomicU32::new(0),
            server: None,
        }
    }

    /// URL of the server's first database, as a user who may do everything.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The directory of everything that a private server keeps.
    pub fn directory(&self) -> Option<&Path> {
        self.server.as_ref().map(|(_, nest)| nest.path())
    }

    /// Makes an empty database and returns its URL.
    pub async fn database(&self) -> Result<String, PostgresError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        let sql = format!("DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}");
        for statement in sql.split("; ") {
            run(Command::new(&self.psql).args(["-q", "-X", "-d", &self.url, "-c", statement]))
                .await?;
        }
        Ok(with_database(&self.url, &name))
    }
}

/// Replaces the database in a URL and keeps its parameters.
fn with_database(url: &str, name: &str) -> String {
    let (address, parameters) = url
        .split_once('?')
        .map_or((url, None), |(a, p)| (a, Some(p)));
    let authority_at = address.find("://").map_or(0, |at| at + 3);
    let server = address[authority_at..]
        .find('/')
        .map_or(address, |slash| &address[..authority_at + slash]);
    let suffix = parameters.map(|p| format!("?{p}")).unwrap_or_default();
    format!("{server}/{name}{suffix}")
}

async fn init_database(
    binaries: &Path,
    data: &Path,
    user: &ServerUser,
) -> Result<(), PostgresError> {
    let mut words = user.prefix();
    words.push(binaries.join("initdb").into());
    words.extend(
        [
            "--no-sync",
            "--auth=trust",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "-D",
        ]
        .map(OsString::from),
    );
    words.push(data.into());
    run(Command::new(&words[0]).args(&words[1..]).current_dir("/"))
        .await
        .map(drop)
}

fn serve(
    binaries: &Path,
    room: PathBuf,
    data: &Path,
    port: u16,
    durability: Durability,
    user: &ServerUser,
) -> Result<Guarded, ProcessError> {
    let mut words = user.prefix();
    words.push(binaries.join("postgres").into());
    words.extend([
        OsString::from("-D"),
        data.into(),
        "-p".into(),
        port.to_string().into(),
    ]);
    let socket = format!("unix_socket_directories={}", room.display());
    let mut settings = vec!["listen_addresses=127.0.0.1", "max_connections=300", &socket];
    if durability == Durability::Process {
        settings.extend(["fsync=off", "full_page_writes=off"]);
    }
    words.extend(
        settings
            .into_iter()
            .flat_map(|s| [OsString::from("-c"), s.into()]),
    );
    Guarded::start("postgres", room, StopSignal::Quit, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_replaces_the_one_in_the_url() {
        let cases = [
            ("postgres://u@h:1/postgres", "postgres://u@h:1/x"),
            ("postgres://u@h:1", "postgres://u@h:1/x"),
            (
                "postgres://h/a?sslmode=disable",
                "postgres://h/x?sslmode=disable",
            ),
        ];
        for (before, after) in cases {
            assert_eq!(with_database(before, "x"), after);
        }
    }
}
