//! Starting a broker and stopping it.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_store::Store;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::app::{App, Core, Signs};
use crate::bootstrap::{self, FirstKey, bootstrap};
use crate::config::Config;
use crate::fleet::{self, Fleet, KeyRing};
use crate::metrics::Metrics;
use crate::refusals::Refusals;
use crate::router::router;
use crate::server::{self, Server};
use crate::tasks::{self, Board};
use crate::texts::Texts;
use crate::webhook::{BadKey, Webhooks};

/// Why a broker could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The store failed.
    #[error("the store could not be read")]
    Store(#[from] evenkeel_store::Error),
    /// A file could not be read or written.
    #[error("{} could not be read or written", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The TLS identity could not be read.
    #[error("the TLS certificate and key could not be used")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The sealing key is not one.
    #[error("webhooks.encryption_key cannot be used")]
    SealingKey(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The client that calls webhooks could not be made.
    #[error("the webhook client could not be made")]
    Client(#[from] reqwest::Error),
    /// The listener has no address.
    #[error("the listener cannot be used")]
    Listener(#[source] io::Error),
    /// The broker's own generator could not be named.
    #[error("the broker's own generator could not be made")]
    System,
}

impl StartError {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            source,
        }
    }
}

impl From<BadKey> for StartError {
    fn from(error: BadKey) -> Self {
        Self::SealingKey(Box::new(error))
    }
}

/// What a broker is made of.
#[derive(Debug)]
pub struct Parts {
    /// Its settings.
    pub config: Config,
    /// What it knows.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: SharedClock,
    /// Its dice; they make keys, so they must be good.
    pub random: SharedRandom,
}

/// A broker that runs.
#[derive(Debug)]
pub struct Broker {
    address: SocketAddr,
    first_key: Option<FirstKey>,
    stopping: CancellationToken,
    done: JoinHandle<()>,
}

impl Broker {
    /// Starts a broker on the listener. It runs until `stop` is cancelled, or it is dropped.
    pub async fn start(
        parts: Parts,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> Result<Self, StartError> {
        let address = listener.local_addr().map_err(StartError::Listener)?;
        let tls = parts
            .config
            .server
            .tls
            .as_ref()
            .map(server::acceptor)
            .transpose()?;
        let found = bootstrap(&parts.config, parts.store.as_ref(), parts.random.as_ref()).await?;
        let tasks = tasks::all(&parts.config);
        let app = assemble(parts, found.system, Board::new(&tasks), stop.clone()).await?;
        let server = Server {
            router: router(app.clone()),
            tls,
            stopping: stop.clone(),
            drain: app.config.server.drain(),
        };
        let done = tokio::spawn(work(app, server, listener, tasks));
        Ok(Self {
            address,
            first_key: found.first_key,
            stopping: stop,
            done,
        })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The administrator's key, if this start made it. Nobody can ask for it again.
    pub const fn first_key(&self) -> Option<&FirstKey> {
        self.first_key.as_ref()
    }

    /// Waits until the broker has stopped and every request in progress was answered.
    pub async fn stopped(mut self) {
        // A panic in it was reported by the panic hook.
        let _ = (&mut self.done).await;
    }

    /// Ends the broker where it stands, as if its machine had gone.
    pub fn kill(self) {
        self.done.abort();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

async fn assemble(
    parts: Parts,
    system: evenkeel_model::GeneratorId,
    board: Board,
    stopping: CancellationToken,
) -> Result<App, StartError> {
    let Parts {
        config,
        store,
        clock,
        random,
    } = parts;
    let fleet = Arc::new(Fleet::new(KeyRing::default()));
    fleet::load(store.as_ref(), &fleet).await?;
    let sealer = bootstrap::sealer(&config, random.as_ref())?;
    Ok(Arc::new(Core {
        texts: Texts::new(config.limits.manifest_cache_bytes),
        refusals: Refusals::new(config.limits.refusals_per_second),
        webhooks: Webhooks::new(&config.webhooks, sealer)?,
        metrics: Metrics::new(),
        signs: Mutex::new(Signs::default()),
        config,
        store,
        clock,
        random,
        fleet,
        board,
        system,
        stopping,
    }))
}

/// Everything that goes on at once. Dropping it ends all of it.
async fn work(app: App, server: Server, listener: TcpListener, tasks: Vec<tasks::Task>) {
    let mut background = JoinSet::new();
    background.spawn(fleet::follow(
        Arc::clone(&app.store),
        Arc::clone(&app.fleet),
    ));
    let holder = app.random.uuid().to_string();
    for task in tasks {
        background.spawn(tasks::drive(app.clone(), holder.clone(), task));
    }
    server.serve(listener).await;
    if let Err(error) = tasks::write_signs(&app).await {
        tracing::warn!(%error, "the last signs of life were not written down");
    }
}
