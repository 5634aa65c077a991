//! One real control plane of the test bed, with pretended nodes. It begins empty every time.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::Context;
use evenkeel_testkit::RealCluster;
use evenkeel_testkit::real::WORKLOAD_CONTROLLERS;

use super::{Place, given};
use crate::data_dir::DataDir;

/// A real API server; it ends when this is dropped.
pub(super) struct Real {
    pub(super) place: Place,
    _cluster: RealCluster,
}

/// Starts the processes. What is missing is said with how to get it.
pub(super) async fn start(name: &str, data: &DataDir) -> anyhow::Result<Real> {
    let cluster = RealCluster::builder()
        .controllers(WORKLOAD_CONTROLLERS)
        .scheduler()
        .nodes(1)
        .start()
        .await?;
    let kubeconfig = data.of_cluster(name, "kubeconfig");
    // The cluster's own file goes with it; people look where they looked the last time.
    fs::copy(cluster.kubeconfig(), &kubeconfig)
        .and_then(|_| fs::set_permissions(&kubeconfig, fs::Permissions::from_mode(0o600)))
        .with_context(|| format!("cannot write {}", kubeconfig.display()))?;
    let place = Place {
        name: name.to_owned(),
        url: given::address(&kubeconfig, None)?,
        kubeconfig,
        context: None,
    };
    Ok(Real {
        place,
        _cluster: cluster,
    })
}
