//! The broker that is measured: one of our own in another process, or somebody else's.

use std::process::Stdio;
use std::sync::Arc;

use anyhow::Context;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_bench::resident_bytes_of;
use evenkeel_broker::{Broker, Config, Parts};
use evenkeel_store::Database;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::Options;

const SERVE: &str = "--serve";

/// The database that this process is to serve, if it is the broker's.
pub(crate) fn asked_to_serve() -> Option<String> {
    let mut arguments = std::env::args().skip(1);
    (arguments.next().as_deref() == Some(SERVE))
        .then(|| arguments.next())
        .flatten()
}

/// Serves until it is killed; says where, and with which key.
#[expect(
    clippy::print_stdout,
    reason = "the process that started this one reads it"
)]
pub(crate) async fn serve(url: &str) -> anyhow::Result<()> {
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let store = Database::open(url, clock.clone(), random.clone()).await?;
    let mut config = Config::default();
    config.limits.requests_per_second = 0;
    config.limits.longest_wait_seconds = 600;
    let parts = Parts {
        config,
        store: Arc::new(store),
        clock,
        random,
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let broker = Broker::start(parts, listener, CancellationToken::new()).await?;
    let key = broker
        .first_key()
        .context("the database is not empty")?
        .key
        .clone();
    println!("{} {key}", broker.address());
    broker.stopped().await;
    Ok(())
}

/// A broker to measure.
pub(crate) struct Server {
    pub(crate) host: String,
    pub(crate) key: String,
    /// Its database, if it is ours and on a file.
    pub(crate) database: Option<String>,
    process: Option<Child>,
    _room: Option<tempfile::TempDir>,
}

impl Server {
    /// The one that was asked for, or one of our own on a file.
    pub(crate) async fn start(options: &Options) -> anyhow::Result<Self> {
        if let Some((url, key)) = options.elsewhere() {
            let host = url
                .trim_start_matches("http://")
                .trim_end_matches('/')
                .to_owned();
            return Ok(Self {
                host,
                key: key.to_owned(),
                database: None,
                process: None,
                _room: None,
            });
        }
        let room = tempfile::tempdir()?;
        let url = format!("sqlite://{}/broker.db", room.path().display());
        Ok(Self {
            _room: Some(room),
            ..Self::on(&url).await?
        })
    }

    /// One of our own on this database.
    pub(crate) async fn on(url: &str) -> anyhow::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args([SERVE, url])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().context("the broker's output")?;
        let line = BufReader::new(output).lines().next_line().await?;
        let line = line.context("the broker did not start")?;
        let (host, key) = line.split_once(' ').context("the broker's first line")?;
        Ok(Self {
            host: host.to_owned(),
            key: key.to_owned(),
            database: Some(url.to_owned()).filter(|url| url.starts_with("sqlite:")),
            process: Some(process),
            _room: None,
        })
    }

    /// The memory that it holds, if it is ours.
    pub(crate) fn resident(&self) -> Option<u64> {
        resident_bytes_of(&self.process.as_ref()?.id()?.to_string())
    }
}
