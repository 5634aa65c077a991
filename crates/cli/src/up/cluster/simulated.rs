//! One simulated cluster: kept in a file, served on a port, reached by a kubeconfig.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use evenkeel_ambient::{Random, SystemRandom};
use evenkeel_kubesim::adapters::{Kubeconfig, Server};
use evenkeel_kubesim::{Cluster, User, Workloads};

use super::Place;
use crate::data_dir::DataDir;
use crate::up::port;

/// Long enough to see pods come up, short enough to wait for.
const READY_AFTER: Duration = Duration::from_millis(300);

/// A simulated cluster that answers.
pub(super) struct Simulated {
    pub(super) place: Place,
    server: Server,
}

/// Opens the cluster's file and serves it, on the port of the last time if that is free.
pub(super) async fn start(name: &str, data: &DataDir) -> anyhow::Result<Simulated> {
    let file = data.of_cluster(name, "objects");
    let kubeconfig = data.of_cluster(name, "kubeconfig");
    let token = token_in(&kubeconfig).unwrap_or_else(|| SystemRandom.uuid().to_string());
    let cluster = Cluster::builder()
        .workloads(Workloads::default().ready_after(READY_AFTER))
        .token(&token, User::admin("kubernetes-admin"))
        .open(&file)
        .with_context(|| format!("cannot open {}", file.display()))?;
    let listener = port::listen(&data.of_cluster(name, "port")).await?;
    let server = Server::start(listener, cluster.entrance())?;
    write_kubeconfig(name, &server, token, &kubeconfig)?;
    let place = Place {
        name: name.to_owned(),
        url: server.url(),
        kubeconfig,
        context: None,
    };
    Ok(Simulated { place, server })
}

impl Simulated {
    /// Ends watches in good order and stops.
    pub(super) async fn stop(self) {
        self.server.stop().await;
    }
}

/// The token of the last time, so that kubeconfigs that people have copied stay good.
fn token_in(kubeconfig: &Path) -> Option<String> {
    let text = std::fs::read_to_string(kubeconfig).ok()?;
    let config: serde_json::Value = serde_json::from_str(&text).ok()?;
    let token = config.pointer("/users/0/user/token")?.as_str()?;
    Some(token.to_owned())
}

fn write_kubeconfig(name: &str, server: &Server, token: String, path: &Path) -> anyhow::Result<()> {
    let kubeconfig = Kubeconfig {
        name: name.to_owned(),
        server: server.url(),
        authority: None,
        token: Some(token),
    };
    kubeconfig
        .write(path)
        .with_context(|| format!("cannot write {}", path.display()))
}
