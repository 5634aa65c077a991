//! The command line of the people.

use std::path::Path;

use tokio::process::Command;

use crate::cluster::Cluster;
use crate::real::Binaries;

/// kubectl for `cluster`: the test bed's own, or else the machine's.
pub async fn kubectl(cluster: &Cluster) -> Command {
    kubectl_with(&cluster.kubeconfig().await)
}

/// kubectl with this kubeconfig: the test bed's own, or else the machine's.
pub fn kubectl_with(kubeconfig: &Path) -> Command {
    let own = Binaries::find()
        .ok()
        .and_then(|binaries| binaries.command("kubectl"));
    let words = own.unwrap_or_else(|| vec!["kubectl".into()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("KUBECONFIG", kubeconfig);
    command
}
