//! The status of a deployment.

use std::time::Duration;

use serde_json::{Value, json};

use super::progress::{self, condition, count};
use super::sets::{Sets, replicas};
use super::{max_unavailable, wanted};
use crate::meta;
use crate::store::Key;
use crate::workloads::desk::{DEPLOYMENTS, Desk};
use crate::workloads::{Again, condition};

/// Whether everything is as it shall be.
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = wanted(deployment);
    let fields = ["updatedReplicas", "replicas", "availableReplicas"];
    let generation = deployment["metadata"]["generation"].as_i64();
    fields.iter().all(|field| count(status, field) == wanted)
        && status["observedGeneration"].as_i64() >= generation
}

/// Writes the status; judges the progress too, if a rollout is under way.
pub(super) fn write(desk: &Desk<'_>, key: &Key, sets: &Sets<'_>, rollout: bool) -> Again {
    let now = desk.now();
    let mut left = None;
    desk.update_status(DEPLOYMENTS, key, |deployment| {
        let before = deployment
            .get("status")
            .cloned()
            .unwrap_or_else(progress::none);
        let mut status = counted(deployment, sets, &before);
        judge_availability(deployment, &mut status, &desk.timestamp());
        if rollout {
            let new = sets.new.as_ref().map(|set| meta::name(set));
            progress::judge(deployment, &before, &mut status, new, now);
            note_failures(&mut status, sets);
        }
        left = progress::time_left(deployment, &status, now);
        deployment["status"] = status;
    })?;
    // A rollout that has timed out waits for somebody to do something.
    let pending = left.filter(|left| *left > Duration::ZERO);
    Ok(pending.map(|left| left + Duration::from_secs(1)))
}

fn counted(deployment: &Value, sets: &Sets<'_>, before: &Value) -> Value {
    let sum = |field: &str| -> i64 { sets.all().map(|set| count(&set["status"], field)).sum() };
    let available = sum("availableReplicas");
    let total: i64 = sets.all().map(|set| replicas(set)).sum();
    let updated = sets
        .new
        .as_ref()
        .map_or(0, |set| count(&set["status"], "replicas"));
    let mut status = json!({
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": sum("replicas"),
        "updatedReplicas": updated,
        "readyReplicas": sum("readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": (total - available).max(0),
        "terminatingReplicas": sum("terminatingReplicas"),
    });
    for kept in ["conditions", "collisionCount"] {
        if let Some(value) = before.get(kept) {
            status[kept] = value.clone();
        }
    }
    status
}

fn judge_availability(deployment: &Value, status: &mut Value, now: &str) {
    let minimum = wanted(deployment) - max_unavailable(deployment);
    let condition = match count(status, "availableReplicas") >= minimum {
        true => condition(
            "Available",
            true,
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
            now,
        ),
        false => condition(
            "Available",
            false,
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
            now,
        ),
    };
    condition::set(status, condition);
}

/// What keeps a set from making its pods is the deployment's trouble, too.
fn note_failures(status: &mut Value, sets: &Sets<'_>) {
    let failure = |set: &Value| condition::find(&set["status"], "ReplicaFailure").cloned();
    let newest = sets.new.as_ref().and_then(|set| failure(set));
    let failure = newest.or_else(|| sets.old.iter().find_map(|set| failure(set)));
    match failure {
        Some(mut failure) => {
            failure["lastUpdateTime"] = failure["lastTransitionTime"].clone();
            condition::set(status, failure);
        }
        None => condition::remove(status, "ReplicaFailure"),
    }
}
