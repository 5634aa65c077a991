//! Pods that keep a StatefulSet from going on.
//!
//! A StatefulSet replaces a pod only after it was ready: one that finds no node, no image or no
//! configuration that PostgreSQL takes blocks it for ever, also when the change that broke it was
//! taken back. Such a pod is deleted, if it is of an older revision and its server does not run;
//! the next one has the same volume.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};
use kube::ResourceExt;

/// The label that says by which revision of its StatefulSet a pod was made.
const REVISION: &str = "controller-revision-hash";

/// The pods among those of `servers` that only stand in the way.
#[must_use]
pub fn in_the_way<'p>(servers: &StatefulSet, pods: &'p [Pod]) -> Vec<&'p Pod> {
    let Some(wanted) = wanted_revision(servers) else {
        return Vec::new();
    };
    let is_old = |pod: &&Pod| pod.labels().get(REVISION).is_some_and(|own| own != wanted);
    let stays = |pod: &&Pod| pod.metadata.deletion_timestamp.is_none();
    pods.iter()
        .filter(stays)
        .filter(is_old)
        .filter(|pod| !runs(pod))
        .collect()
}

/// Why a pod does not start, in a word; nothing if it does, or nobody said.
#[must_use]
pub fn why_not_started(pod: &Pod) -> Option<&str> {
    let status = pod.status.as_ref()?;
    let unplaced = status
        .conditions
        .iter()
        .flatten()
        .filter(|condition| condition.type_ == "PodScheduled" && condition.status == "False")
        .find_map(|condition| condition.reason.as_deref());
    let waiting = containers(status).find_map(|container| {
        let waiting = container.state.as_ref()?.waiting.as_ref()?;
        waiting.reason.as_deref()
    });
    let ordinary = ["ContainerCreating", "PodInitializing"];
    unplaced.or(waiting).filter(|why| !ordinary.contains(why))
}

/// The revision that all pods shall have; nothing while the StatefulSet's controller has not looked
/// at what is asked for now.
fn wanted_revision(servers: &StatefulSet) -> Option<&str> {
    let status = servers.status.as_ref()?;
    let current = status.observed_generation == servers.metadata.generation;
    status.update_revision.as_deref().filter(|_| current)
}

/// Whether the server in a pod may be at work. In doubt it is.
fn runs(pod: &Pod) -> bool {
    let Some(status) = &pod.status else {
        return false;
    };
    let running = |container: &ContainerStatus| {
        let state = container.state.as_ref();
        container.ready || state.is_some_and(|state| state.running.is_some())
    };
    let told = status.phase.as_deref() == Some("Running") && containers(status).next().is_none();
    told || containers(status).any(running)
}

fn containers(status: &PodStatus) -> impl Iterator<Item = &ContainerStatus> {
    status.container_statuses.iter().flatten()
}
