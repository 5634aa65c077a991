//! Starting and stopping a real cluster.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use thiserror::Error;
use tokio::sync::OnceCell;

use super::binaries::{Binaries, MissingBinaries};
use super::components::{self, LIFECYCLE_CONTROLLERS, WORKLOAD_CONTROLLERS};
use super::credentials::{Credentials, CredentialsError, User};
use crate::environment;
use crate::process::{Guarded, Nest, ProcessError, free_port};

/// Why there is no real cluster for a test.
#[derive(Debug, Error)]
pub enum RealClusterError {
    /// Nothing to start: the test is to be skipped.
    #[error(transparent)]
    Missing(#[from] MissingBinaries),
    /// A component did not come up.
    #[error("start the control plane: {0}")]
    Process(#[from] ProcessError),
    /// Certificates and tokens.
    #[error("make credentials")]
    Credentials(#[from] CredentialsError),
    /// The kubeconfig, ours or the developer's.
    #[error("use the kubeconfig")]
    Kubeconfig(#[from] KubeconfigError),
    /// A request that belongs to the start.
    #[error("prepare the cluster")]
    Client(#[from] kube::Error),
}

/// What the cluster shall consist of.
#[derive(Debug, Clone)]
pub struct RealClusterBuilder {
    controllers: &'static [&'static str],
    scheduler: bool,
    nodes: usize,
}

impl RealClusterBuilder {
    /// Which controllers run (`LIFECYCLE_CONTROLLERS` if nothing is said; an empty list: none).
    #[must_use]
    pub fn controllers(mut self, controllers: &'static [&'static str]) -> Self {
        self.controllers = controllers;
        self
    }

    /// Also the scheduler.
    #[must_use]
    pub fn scheduler(mut self) -> Self {
        self.scheduler = true;
        self
    }

    /// `count` nodes that kwok keeps Ready and on which every pod runs at once.
    #[must_use]
    pub fn nodes(mut self, count: usize) -> Self {
        self.nodes = count;
        self
    }

    /// Starts the processes and waits until the API server is ready.
    pub async fn start(self) -> Result<RealCluster, RealClusterError> {
        if let Some(kubeconfig) = developers_kubeconfig() {
            return Ok(RealCluster {
                access: Access::Given(kubeconfig),
                parts: Vec::new(),
                nest: None,
            });
        }
        let binaries = Binaries::find()?;
        // Between looking for a free port and using it somebody else may take it.
        for _ in 0..2 {
            match self.start_once(&binaries).await {
                Err(RealClusterError::Process(ProcessError::Ended { log, .. }))
                    if log.contains("address already in use") => {}
                other => return other,
            }
        }
        self.start_once(&binaries).await
    }

    async fn start_once(&self, binaries: &Binaries) -> Result<RealCluster, RealClusterError> {
        let nest = Nest::new("cluster")?;
        let (etcd, etcd_url) = components::etcd(binaries, &nest).await?;
        let port = free_port();
        let files = Credentials::make(&nest.room("kube-apiserver")?, port)?;
        let server = components::apiserver(binaries, &nest, &etcd_url, port, &files)?;
        let client = client_of(&files.kubeconfig(User::Admin).to_string(), true).await?;
        server
            .ready(Duration::from_secs(90), async || is_ready(&client).await)
            .await?;
        // Clients before servers, so that nothing logs about a server that has gone.
        let mut parts = self.start_clients(binaries, &nest, &files)?;
        parts.extend([server, etcd]);
        let cluster = RealCluster {
            access: Access::Own(files),
            parts,
            nest: Some(nest),
        };
        cluster.add_nodes(self.nodes).await?;
        Ok(cluster)
    }

    fn start_clients(
        &self,
        binaries: &Binaries,
        nest: &Nest,
        files: &Credentials,
    ) -> Result<Vec<Guarded>, ProcessError> {
        let mut parts = Vec::new();
        if !self.controllers.is_empty() {
            parts.push(components::controller_manager(
                binaries,
                nest,
                self.controllers,
                files,
            )?);
        }
        if self.scheduler {
            parts.push(components::scheduler(binaries, nest, files)?);
        }
        if self.nodes > 0 {
            parts.push(components::kwok(binaries, nest, files)?);
        }
        Ok(parts)
    }
}

/// A kubeconfig is used only when the developer says so twice: tests create and delete.
fn developers_kubeconfig() -> Option<PathBuf> {
    environment::variable("EVENKEEL_TEST_KUBECONFIG")?;
    environment::path("KUBECONFIG")
}

async fn client_of(kubeconfig: &str, retries: bool) -> Result<Client, RealClusterError> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig)?;
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = retries;
    Ok(Client::try_from(config)?)
}

async fn is_ready(client: &Client) -> bool {
    let Ok(request) = Request::get("/readyz").body(Body::empty()) else {
        return false;
    };
    client
        .send(request)
        .await
        .is_ok_and(|reply| reply.status().is_success())
}

#[derive(Debug)]
enum Access {
    Own(Credentials),
    Given(PathBuf),
}

/// A running control plane. It ends, with all of its files, when the value is dropped or the
/// process dies.
#[derive(Debug)]
pub struct RealCluster {
    access: Access,
    parts: Vec<Guarded>,
    nest: Option<Nest>,
}

impl RealCluster {
    /// An API server, etcd and the controllers that remove namespaces and orphans.
    pub async fn start() -> Result<Self, RealClusterError> {
        Self::builder().start().await
    }

    /// Describes a cluster with other parts.
    pub fn builder() -> RealClusterBuilder {
        RealClusterBuilder {
            controllers: LIFECYCLE_CONTROLLERS,
            scheduler: false,
            nodes: 0,
        }
    }

    /// Describes a cluster on which workloads run: controllers, scheduler and three nodes.
    pub fn with_workloads() -> RealClusterBuilder {
        Self::builder()
            .controllers(WORKLOAD_CONTROLLERS)
            .scheduler()
            .nodes(3)
    }

    /// One cluster for all tests of this process, as [`RealCluster::start`] makes it; it ends when
    /// the process does.
    pub async fn shared() -> Result<Arc<Self>, RealClusterError> {
        static SHARED: OnceCell<Arc<RealCluster>> = OnceCell::const_new();
        let start = async || Self::start().await.map(Arc::new);
        SHARED.get_or_try_init(start).await.cloned()
    }

    /// The same as [`RealCluster::with_workloads`] makes it, so that workloads come to life.
    pub async fn shared_alive() -> Result<Arc<Self>, RealClusterError> {
        static SHARED: OnceCell<Arc<RealCluster>> = OnceCell::const_new();
        let start = async || Self::with_workloads().start().await.map(Arc::new);
        SHARED.get_or_try_init(start).await.cloned()
    }

    /// A client with all rights.
    pub async fn client(&self) -> Result<Client, RealClusterError> {
        client_of(&self.kubeconfig_text(User::Admin)?, true).await
    }

    /// A client that is `user` and shows every reply as it is, without retries. A cluster that
    /// the developer named has one user only.
    pub async fn raw_client(&self, user: User) -> Result<Client, RealClusterError> {
        client_of(&self.kubeconfig_text(user)?, false).await
    }

    fn kubeconfig_text(&self, user: User) -> Result<String, RealClusterError> {
        match &self.access {
            Access::Own(files) => Ok(files.kubeconfig(user).to_string()),
            Access::Given(path) => std::fs::read_to_string(path)
                .map_err(|source| KubeconfigError::ReadConfig(source, path.clone()).into()),
        }
    }

    /// The administrator's kubeconfig file.
    pub fn kubeconfig(&self) -> PathBuf {
        match &self.access {
            Access::Own(files) => files.path("kubeconfig"),
            Access::Given(path) => path.clone(),
        }
    }

    /// The directory of everything that the cluster keeps, unless it is the developer's own.
    pub fn directory(&self) -> Option<&Path> {
        self.nest.as_ref().map(Nest::path)
    }

    /// What its components wrote last, for a test that failed.
    pub fn logs(&self) -> String {
        self.parts
            .iter()
            .map(Guarded::end_of_log)
            .collect::<Vec<_>>()
            .join("\n")
    }

    async fn add_nodes(&self, count: usize) -> Result<(), RealClusterError> {
        let nodes: Api<Node> = Api::all(self.client().await?);
        for number in 0..count {
            let name = Some(format!("node-{number}"));
            let metadata = ObjectMeta {
                name,
                ..ObjectMeta::default()
            };
            let node = Node {
                metadata,
                ..Node::default()
            };
            nodes.create(&PostParams::default(), &node).await?;
        }
        Ok(())
    }
}
