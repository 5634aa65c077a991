//! Deployments: one ReplicaSet for each template, and the way from one to the next.
//!
//! ```text
//! sets ──▶ new and old ──▶ paused or resized: scale ─┐
//!                     └──▶ Recreate, RollingUpdate ──┴──▶ status
//! ```

mod progress;
mod rollout;
mod scale;
mod sets;
mod status;

use serde_json::Value;

use super::desk::{DEPLOYMENTS, Desk, REPLICA_SETS};
use super::{Again, controlled};
use crate::meta;
use crate::selectors::LabelSelector;
use crate::store::Key;
use sets::Sets;

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let paused = |deployment: &Value| deployment["spec"]["paused"] == true;
    let Some(deployment) = desk.get(DEPLOYMENTS, key) else {
        return Ok(None);
    };
    if !meta::is_deleting(&deployment) {
        progress::note_pause(desk, key, paused(&deployment))?;
    }
    let selector = LabelSelector::of(&deployment["spec"]["selector"]);
    let owned = controlled::claim(desk, REPLICA_SETS, DEPLOYMENTS, &deployment, &selector)?;
    let mut sets = Sets::sort(desk, &deployment, &owned);
    if meta::is_deleting(&deployment) {
        return status::write(desk, key, &sets, false);
    }
    let paused = paused(&deployment);
    if paused || scale::is_wanted(&deployment, &sets) {
        sets.sync_new(&deployment)?;
        scale::proportionally(&mut sets, &deployment)?;
        if paused {
            rollout::clean_up(&sets, &deployment)?;
        }
        return status::write(desk, key, &sets, false);
    }
    if deployment["spec"]["strategy"]["type"] == "Recreate" {
        rollout::recreate(&mut sets, &deployment)?;
    } else {
        rollout::rolling(&mut sets, &deployment)?;
    }
    status::write(desk, key, &sets, true)
}

/// How many pods there shall be.
fn wanted(deployment: &Value) -> i64 {
    deployment["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// How many pods there may be too many and too few while the template changes.
fn fenceposts(deployment: &Value) -> (i64, i64) {
    let strategy = &deployment["spec"]["strategy"];
    if strategy["type"] == "Recreate" {
        return (0, 0);
    }
    let wanted = wanted(deployment);
    let surge = share(&strategy["rollingUpdate"]["maxSurge"], wanted, true);
    let missing = share(&strategy["rollingUpdate"]["maxUnavailable"], wanted, false);
    match (surge, missing) {
        (0, 0) => (0, 1),
        other => other,
    }
}

fn max_surge(deployment: &Value) -> i64 {
    fenceposts(deployment).0
}

fn max_unavailable(deployment: &Value) -> i64 {
    fenceposts(deployment).1.min(wanted(deployment))
}

/// A number, or a percentage of `total`.
pub(super) fn share(value: &Value, total: i64, round_up: bool) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%'));
    match percent.and_then(|text| text.parse::<i64>().ok()) {
        Some(percent) if round_up => (total * percent + 99) / 100,
        Some(percent) => total * percent / 100,
        None => value.as_i64().unwrap_or(0),
    }
}
