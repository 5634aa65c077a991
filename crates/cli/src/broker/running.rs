//! A broker that runs in this process, with the database that it opened.

use std::fs;
use std::sync::Arc;

use anyhow::Context;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_broker::{Broker, Config, FirstKey, Parts};
use evenkeel_store::Database;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A broker and its database.
pub(crate) struct RunningBroker {
    broker: Broker,
    database: Arc<Database>,
    stop: CancellationToken,
    secure: bool,
}

impl RunningBroker {
    /// Opens the database that `config` names and serves it on `listener`.
    pub(crate) async fn start(config: Config, listener: TcpListener) -> anyhow::Result<Self> {
        if let Some(dir) = &config.database.data_dir {
            fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        }
        let url = config.database.url.as_deref().unwrap_or("sqlite::memory:");
        let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        let database = Database::open(url, clock.clone(), random.clone())
            .await
            .context("cannot open the broker's database")?;
        let database = Arc::new(database);
        let secure = config.server.tls.is_some();
        let parts = Parts {
            config,
            store: database.clone(),
            clock,
            random,
        };
        let stop = CancellationToken::new();
        let broker = Broker::start(parts, listener, stop.clone())
            .await
            .context("cannot start the broker")?;
        Ok(Self {
            broker,
            database,
            stop,
            secure,
        })
    }

    /// The address that clients use.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}", self.broker.address())
    }

    /// The administrator's key, if this start made it.
    pub(crate) fn first_key(&self) -> Option<&FirstKey> {
        self.broker.first_key()
    }

    /// Answers what is in progress, writes down what is in memory, and stops.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.broker.stopped().await;
        self.database.close().await;
    }
}
