//! A cluster for a test that does not care which: simulated, or real where the machine has one.

use std::path::PathBuf;
use std::sync::Arc;

use evenkeel_kubesim as kubesim;
use evenkeel_kubesim::adapters::{Kubeconfig, Server};
use kube::Client;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::OnceCell;

use crate::real::{RealCluster, RealClusterBuilder, RealClusterError};
use crate::skip;

/// Who the simulator's only user is.
const ADMIN: &str = "admin";

/// A simulated or a real cluster.
#[derive(Debug, Clone)]
pub enum Cluster {
    /// In this process, fresh, with all that a simulator can do.
    Simulated(Arc<Simulated>),
    /// An API server with etcd and controllers.
    Real(Arc<RealCluster>),
}

/// A simulated cluster, on a port when somebody asks for a kubeconfig.
#[derive(Debug, Default)]
pub struct Simulated {
    cluster: kubesim::Cluster,
    served: OnceCell<Served>,
}

#[derive(Debug)]
struct Served {
    kubeconfig: PathBuf,
    _server: Server,
    _directory: TempDir,
}

impl Simulated {
    /// The simulator, for faults and counters.
    pub fn cluster(&self) -> &kubesim::Cluster {
        &self.cluster
    }

    async fn serve(&self) -> std::io::Result<Served> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let server = Server::start(listener, self.cluster.view(ADMIN))?;
        let directory = tempfile::Builder::new()
            .prefix("evenkeel-simulated-")
            .tempdir()?;
        let kubeconfig = directory.path().join("kubeconfig");
        let name = "simulated".to_owned();
        Kubeconfig {
            name,
            server: server.url(),
            authority: None,
            token: None,
        }
        .write(&kubeconfig)?;
        Ok(Served {
            kubeconfig,
            _server: server,
            _directory: directory,
        })
    }
}

impl Cluster {
    /// A new simulated cluster.
    pub fn simulated() -> Self {
        Self::Simulated(Arc::default())
    }

    /// A new simulated cluster in which workloads come to life at once.
    pub fn simulated_alive() -> Self {
        let workloads = kubesim::Workloads::instant();
        let cluster = kubesim::Cluster::builder().workloads(workloads).build();
        Self::Simulated(Arc::new(Simulated {
            cluster,
            served: OnceCell::new(),
        }))
    }

    /// The real cluster that the tests of this process share; `None`, loudly, where there is
    /// none. Use namespaces of your own.
    pub async fn shared_real_or_skip() -> Option<Self> {
        or_skip(RealCluster::shared().await).map(Self::Real)
    }

    /// The same with nodes on which workloads come to life.
    pub async fn shared_real_alive_or_skip() -> Option<Self> {
        or_skip(RealCluster::shared_alive().await).map(Self::Real)
    }

    /// A client with all rights.
    ///
    /// # Panics
    /// When the real cluster's own kubeconfig cannot be used.
    pub async fn client(&self) -> Client {
        match self {
            Self::Simulated(simulated) => Client::new(simulated.cluster.view(ADMIN), "default"),
            Self::Real(real) => real
                .client()
                .await
                .unwrap_or_else(|error| panic!("{error:?}")),
        }
    }

    /// A kubeconfig file for programs; the simulator starts to listen on a port.
    ///
    /// # Panics
    /// When the simulator cannot be served.
    pub async fn kubeconfig(&self) -> PathBuf {
        match self {
            Self::Simulated(simulated) => {
                let served = simulated.served.get_or_try_init(|| simulated.serve()).await;
                served
                    .unwrap_or_else(|error| panic!("serve the simulator: {error}"))
                    .kubeconfig
                    .clone()
            }
            Self::Real(real) => real.kubeconfig(),
        }
    }

    /// What it is, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Simulated(_) => "simulated",
            Self::Real(_) => "real",
        }
    }
}

/// Starts a real cluster; `None`, loudly, where there is none.
///
/// # Panics
/// When there is one but it does not start.
pub async fn real_cluster_or_skip(builder: RealClusterBuilder) -> Option<RealCluster> {
    or_skip(builder.start().await)
}

fn or_skip<T>(started: Result<T, RealClusterError>) -> Option<T> {
    match started {
        Ok(cluster) => Some(cluster),
        Err(RealClusterError::Missing(reason)) => {
            skip(&reason);
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Runs a test on a new simulated cluster and, where there is one, on the shared real one.
pub async fn on_each_cluster(test: impl AsyncFn(&Cluster)) {
    test(&Cluster::simulated()).await;
    if let Some(real) = Cluster::shared_real_or_skip().await {
        test(&real).await;
    }
}
