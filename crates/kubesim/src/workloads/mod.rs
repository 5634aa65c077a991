//! What makes deployed things come to life: the controllers of workloads, a scheduler and a
//! kubelet that only pretends.
//!
//! ```text
//! write ──▶ notice ──▶ agenda ──▶ reconcile: deployment ▸ replicaset ▸ scheduler ▸ kubelet ▸ ...
//!                        ▲ └── time ──▶ alarm ──┐                           │
//!                        └──────────────────────┴── later, or on failure ◀──┘
//! ```
//!
//! Nobody polls: a write or a moment that has come puts a [`Task`] on the [`agenda`], and the task
//! looks at the store and does what is left to do. Read `agenda` and `desk` first, then
//! [`replicaset`] as the shortest of the controllers; [`kubelet`] decides what becomes of pods.

mod agenda;
mod condition;
mod controlled;
mod cronjob;
mod daemonset;
mod deployment;
mod desk;
mod disruption;
mod endpoints;
mod fate;
mod hash;
mod job;
mod kubelet;
mod node;
mod notice;
mod pod;
mod quota;
mod replicaset;
mod revisions;
mod scheduler;
mod settings;
mod statefulset;
mod template_text;
mod volume;

use std::time::Duration;

use tokio::runtime::Handle;

use crate::cluster::Cluster;
use crate::status::ApiError;

pub(crate) use agenda::Agenda;
pub(crate) use notice::notice;
pub(crate) use pod::is_ready;
pub use settings::Workloads;

use agenda::{Controller, Task};
use desk::Desk;

/// When a task wants to look again; nothing when only a write can give it work.
type Again = Result<Option<Duration>, ApiError>;

/// Does one task; whether there was one.
pub(crate) fn step(cluster: &Cluster) -> bool {
    let Some(agenda) = cluster.agenda() else {
        return false;
    };
    let Some(task) = agenda.next() else {
        return false;
    };
    let again = reconcile(cluster, &task);
    if let Err(error) = &again {
        tracing::debug!(?task, %error, "a controller will try again");
        ask_webhook(cluster, &task, error);
    }
    agenda.done(&task, &again);
    true
}

/// Has the webhook asked that a controller's write waits for, and lets the controller look again.
fn ask_webhook(cluster: &Cluster, task: &Task, error: &ApiError) {
    let summons = cluster.court().summons(error);
    let (Some(summons), Ok(runtime)) = (summons, Handle::try_current()) else {
        return;
    };
    let (cluster, task) = (cluster.downgrade(), task.clone());
    runtime.spawn(async move {
        let Some(cluster) = cluster.upgrade() else {
            return;
        };
        cluster.court().hear(&summons).await;
        if let Some(agenda) = cluster.agenda() {
            agenda.add(task.controller, &task.key);
        }
        cluster.settle_at_its_pace();
    });
}

/// Puts what a new or reopened cluster needs where it belongs.
pub(crate) fn found(cluster: &Cluster) {
    if cluster.agenda().is_some() {
        node::found(&Desk::of(cluster, "kubelet"));
        volume::found(&Desk::of(cluster, desk::MANAGER));
        notice::everything(cluster);
    }
}

fn reconcile(cluster: &Cluster, task: &Task) -> Again {
    let desk = Desk::of(cluster, task.controller.manager());
    let key = &task.key;
    match task.controller {
        Controller::Deployment => deployment::reconcile(&desk, key),
        Controller::ReplicaSet => replicaset::reconcile(&desk, desk::REPLICA_SETS, key),
        Controller::Replication => replicaset::reconcile(&desk, desk::REPLICATION_CONTROLLERS, key),
        Controller::StatefulSet => statefulset::reconcile(&desk, key),
        Controller::DaemonSet => daemonset::reconcile(&desk, key),
        Controller::Job => job::reconcile(&desk, key),
        Controller::CronJob => cronjob::reconcile(&desk, key),
        Controller::Endpoints => endpoints::reconcile(&desk, key),
        Controller::Quota => quota::reconcile(&desk, key),
        Controller::Disruption => disruption::reconcile(&desk, key),
        Controller::Claim => volume::reconcile_claim(&desk, key),
        Controller::Volume => volume::reconcile_volume(&desk, key),
        Controller::Scheduler => scheduler::reconcile(&desk, key),
        Controller::Kubelet => kubelet::reconcile(&desk, task),
        Controller::Node => node::reconcile(&desk, key),
    }
}
