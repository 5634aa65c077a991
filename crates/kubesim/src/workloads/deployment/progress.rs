//! What the condition `Progressing` tells of a deployment.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::sets::REVISION;
use super::status::is_complete;
use crate::meta;
use crate::status::ApiError;
use crate::store::Key;
use crate::workloads::condition;
use crate::workloads::desk::{DEPLOYMENTS, Desk};

pub(super) const PROGRESSING: &str = "Progressing";
const DONE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

/// A condition of a deployment, which also says when it was last looked at.
pub(super) fn condition(kind: &str, holds: bool, reason: &str, message: &str, now: &str) -> Value {
    let mut condition = condition::new(kind, holds, reason, message, now);
    condition["lastUpdateTime"] = now.into();
    condition
}

/// The seconds without progress after which a rollout counts as failed.
fn deadline(deployment: &Value) -> Option<i64> {
    let seconds = deployment["spec"]["progressDeadlineSeconds"].as_i64()?;
    (seconds != i64::from(i32::MAX)).then_some(seconds)
}

/// Writes the revision of a deployment, and its progress unless there is a better note of it.
fn note(
    desk: &Desk<'_>,
    deployment: &Value,
    revision: &str,
    reason: &str,
    message: &str,
    over: bool,
) -> Result<(), ApiError> {
    let now = desk.timestamp();
    desk.update_status(DEPLOYMENTS, &meta::key(deployment), |deployment| {
        meta::annotate(deployment, REVISION, revision);
        let known = condition::find(&deployment["status"], PROGRESSING).is_some();
        if deadline(deployment).is_some() && (over || !known) {
            let condition = condition(PROGRESSING, true, reason, message, &now);
            condition::set(&mut deployment["status"], condition);
        }
    })
}

pub(super) fn note_found(
    desk: &Desk<'_>,
    deployment: &Value,
    revision: &str,
    set: &str,
) -> Result<(), ApiError> {
    let message = format!("Found new replica set {set:?}");
    note(
        desk,
        deployment,
        revision,
        "FoundNewReplicaSet",
        &message,
        false,
    )
}

pub(super) fn note_created(
    desk: &Desk<'_>,
    deployment: &Value,
    revision: &str,
    set: &str,
) -> Result<(), ApiError> {
    let message = format!("Created new replica set {set:?}");
    note(
        desk,
        deployment,
        revision,
        "NewReplicaSetCreated",
        &message,
        true,
    )
}

pub(super) fn note_failed_creation(
    desk: &Desk<'_>,
    deployment: &Value,
    set: &str,
    error: &ApiError,
) {
    let message = format!("Failed to create new replica set {set:?}: {error}");
    desk.warn(DEPLOYMENTS, deployment, "ReplicaSetCreateError", &message);
    let now = desk.timestamp();
    let key = meta::key(deployment);
    // The failure itself is on its way to whoever retries.
    let _ = desk.update_status(DEPLOYMENTS, &key, |deployment| {
        let reason = "ReplicaSetCreateError";
        let condition = condition(PROGRESSING, false, reason, &message, &now);
        condition::set(&mut deployment["status"], condition);
    });
}

/// A pause stops the clock; its end starts it anew.
pub(super) fn note_pause(desk: &Desk<'_>, key: &Key, paused: bool) -> Result<(), ApiError> {
    let now = desk.timestamp();
    desk.update_status(DEPLOYMENTS, key, |deployment| {
        if deadline(deployment).is_none() {
            return;
        }
        let current = condition::find(&deployment["status"], PROGRESSING);
        let reason = current
            .map(|current| current["reason"].clone())
            .unwrap_or_default();
        let was_paused = reason == "DeploymentPaused";
        if reason == TIMED_OUT || was_paused == paused {
            return;
        }
        let (reason, message) = match paused {
            true => ("DeploymentPaused", "Deployment is paused"),
            false => ("DeploymentResumed", "Deployment is resumed"),
        };
        let mut condition = condition(PROGRESSING, true, reason, message, &now);
        condition["status"] = "Unknown".into();
        condition::set(&mut deployment["status"], condition);
    })
}

/// Judges how a rollout is getting on: `before` is the status that was, `status` the one to be.
pub(super) fn judge(
    deployment: &Value,
    before: &Value,
    status: &mut Value,
    new: Option<&str>,
    now: Timestamp,
) {
    if deadline(deployment).is_none() {
        condition::remove(status, PROGRESSING);
        return;
    }
    let current = condition::find(before, PROGRESSING).cloned();
    let was_done = current
        .as_ref()
        .is_some_and(|current| current["reason"] == DONE);
    if was_done && count(status, "replicas") == count(status, "updatedReplicas") {
        return;
    }
    let subject = new.map_or_else(
        || format!("Deployment {:?}", meta::name(deployment)),
        |set| format!("ReplicaSet {set:?}"),
    );
    let at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    if is_complete(deployment, status) {
        let message = format!("{subject} has successfully progressed.");
        condition::set(status, condition(PROGRESSING, true, DONE, &message, &at));
    } else if has_progressed(before, status) {
        let message = format!("{subject} is progressing.");
        let mut progress = condition(PROGRESSING, true, "ReplicaSetUpdated", &message, &at);
        if let Some(current) = current.filter(|current| current["status"] == "True") {
            progress["lastTransitionTime"] = current["lastTransitionTime"].clone();
        }
        condition::put(status, progress);
    } else if time_left(deployment, status, now) == Some(Duration::ZERO) {
        let message = format!("{subject} has timed out progressing.");
        condition::set(
            status,
            condition(PROGRESSING, false, TIMED_OUT, &message, &at),
        );
    }
}

fn has_progressed(before: &Value, status: &Value) -> bool {
    let outdated = |status: &Value| count(status, "replicas") - count(status, "updatedReplicas");
    let more = |field: &str| count(status, field) > count(before, field);
    more("updatedReplicas")
        || outdated(status) < outdated(before)
        || more("readyReplicas")
        || more("availableReplicas")
}

/// How long a rollout may go on without progress; nothing when nobody waits for it.
pub(super) fn time_left(deployment: &Value, status: &Value, now: Timestamp) -> Option<Duration> {
    let seconds = deadline(deployment)?;
    let progress = condition::find(status, PROGRESSING)?;
    if progress["reason"] == DONE || progress["reason"] == "DeploymentPaused" {
        return None;
    }
    if progress["reason"] == TIMED_OUT {
        return Some(Duration::ZERO);
    }
    let since: Timestamp = progress["lastUpdateTime"].as_str()?.parse().ok()?;
    let left = since.as_second() + seconds - now.as_second();
    Some(Duration::from_secs(left.max(0).unsigned_abs()))
}

pub(super) fn count(status: &Value, field: &str) -> i64 {
    status[field].as_i64().unwrap_or(0)
}

/// An empty status, for a deployment that has none.
pub(super) fn none() -> Value {
    json!({})
}
