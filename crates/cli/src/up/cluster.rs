//! One simulated cluster: kept in a file, served on a port, reached by a kubeconfig.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::adapters::{Kubeconfig, Server};
use evenkeel_kubesim::ambient::Ambient;
use tokio::net::TcpListener;

use crate::data_dir::DataDir;

/// A cluster that answers.
#[derive(Debug)]
pub(crate) struct RunningCluster {
    pub(crate) name: String,
    pub(crate) kubeconfig: PathBuf,
    server: Server,
}

impl RunningCluster {
    /// Opens the cluster's file and serves it, on the port of the last time if that is free.
    pub(crate) async fn start(name: &str, data: &DataDir) -> anyhow::Result<Self> {
        let file = data.of_cluster(name, "objects");
        let cluster = Cluster::open(&file, Ambient::system())
            .with_context(|| format!("cannot open {}", file.display()))?;
        let listener = listen(&data.of_cluster(name, "port")).await?;
        let server = Server::start(listener, cluster.view("kubernetes-admin"))?;
        let kubeconfig = data.of_cluster(name, "kubeconfig");
        write_kubeconfig(name, &server, &kubeconfig)?;
        Ok(Self {
            name: name.to_owned(),
            kubeconfig,
            server,
        })
    }

    /// The address that clients use.
    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// Ends watches in good order and stops.
    pub(crate) async fn stop(self) {
        self.server.stop().await;
    }
}

/// Takes the port that `memory` names, so that kubeconfigs stay true across restarts; any free
/// one when there is none yet or somebody else has it now. Remembers which.
async fn listen(memory: &Path) -> anyhow::Result<TcpListener> {
    let last = fs::read_to_string(memory)
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let listener = match last {
        Some(port) => match TcpListener::bind(local(port)).await {
            Ok(listener) => listener,
            Err(error) => {
                tracing::warn!(port, %error, "the port of the last time is taken; using another");
                TcpListener::bind(local(0)).await?
            }
        },
        None => TcpListener::bind(local(0)).await?,
    };
    let port = listener.local_addr()?.port();
    fs::write(memory, format!("{port}\n"))
        .with_context(|| format!("cannot write {}", memory.display()))?;
    Ok(listener)
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

fn write_kubeconfig(name: &str, server: &Server, path: &Path) -> anyhow::Result<()> {
    let kubeconfig = Kubeconfig {
        name: name.to_owned(),
        server: server.url(),
        authority: None,
        token: None,
    };
    kubeconfig
        .write(path)
        .with_context(|| format!("cannot write {}", path.display()))
}
