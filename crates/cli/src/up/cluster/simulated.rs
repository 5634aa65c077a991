//! One simulated cluster: kept in a file, served on a port, reached by a kubeconfig.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use evenkeel_ambient::{Random, SystemRandom};
use evenkeel_kubesim::adapters::{Identity, Kubeconfig, Server};
use evenkeel_kubesim::{Cluster, User, Workloads};
use serde_json::{Value, json};

use super::Place;
use crate::data_dir::DataDir;
use crate::private_file::write_private;
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
    // kubectl shows its token only to a server that speaks TLS.
    let identity = kept_identity(&data.of_cluster(name, "identity"))?;
    let server = Server::start_tls(listener, cluster.entrance(), &identity)?;
    let file = Kubeconfig {
        name: name.to_owned(),
        server: server.url(),
        authority: Some(identity.authority),
        token: Some(token),
    };
    file.write(&kubeconfig)
        .with_context(|| format!("cannot write {}", kubeconfig.display()))?;
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
    let config: Value = serde_json::from_str(&text).ok()?;
    let token = config.pointer("/users/0/user/token")?.as_str()?;
    Some(token.to_owned())
}

/// The identity of the last time, for the same reason; a new one where there is none.
fn kept_identity(path: &Path) -> anyhow::Result<Identity> {
    if let Some(kept) = std::fs::read_to_string(path)
        .ok()
        .as_deref()
        .and_then(read_identity)
    {
        return Ok(kept);
    }
    let identity = Identity::generate(&["127.0.0.1", "localhost"])?;
    write_private(path, &text_of(&identity))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(identity)
}

fn text_of(identity: &Identity) -> String {
    json!({
        "authority": identity.authority,
        "authorityKey": identity.authority_key,
        "certificate": identity.certificate,
        "key": identity.key,
    })
    .to_string()
}

fn read_identity(text: &str) -> Option<Identity> {
    let kept: Value = serde_json::from_str(text).ok()?;
    let part = |name: &str| Some(kept.get(name)?.as_str()?.to_owned());
    Some(Identity {
        authority: part("authority")?,
        authority_key: part("authorityKey")?,
        certificate: part("certificate")?,
        key: part("key")?,
    })
}
