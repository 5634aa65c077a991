//! The server, and a client that counts what it asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_kubeset::{Cluster, Settings};
use evenkeel_testkit::RealCluster;
use http::Request;
use kube::client::{Body, ClientBuilder};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tower::util::MapRequestLayer;

/// A real API server and a client of it. What controllers would do is not measured.
pub(crate) struct Server {
    pub(crate) client: Client,
    counts: Arc<Counts>,
    _server: RealCluster,
}

#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    watches: AtomicU64,
}

impl Server {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let server = RealCluster::builder().controllers(&[]).start().await?;
        let kubeconfig = Kubeconfig::read_from(server.kubeconfig())?;
        let options = KubeConfigOptions::default();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
        config.default_retry = false;
        let counts = Arc::new(Counts::default());
        let counter = counts.clone();
        let layer = MapRequestLayer::new(move |request: Request<Body>| {
            let asks = request.uri().query().unwrap_or_default();
            let count = match asks.contains("watch=true") {
                true => &counter.watches,
                false => &counter.requests,
            };
            count.fetch_add(1, Ordering::Relaxed);
            request
        });
        Ok(Self {
            client: ClientBuilder::try_from(config)?.with_layer(&layer).build(),
            counts,
            _server: server,
        })
    }

    /// How many requests were made so far, watches not counted.
    pub(crate) fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::Relaxed)
    }

    /// How many watches were begun so far.
    pub(crate) fn watches(&self) -> u64 {
        self.counts.watches.load(Ordering::Relaxed)
    }

    /// A process that keeps sets.
    pub(crate) fn sets(&self) -> Cluster {
        let settings = Settings {
            inventory_namespace: "default".to_owned(),
            ..Settings::default()
        };
        let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        Cluster::new(self.client.clone(), settings, clock, dice)
    }
}
