//! From one template to the next: all at once, or pod by pod.

use serde_json::Value;

use super::sets::{Sets, replicas, revision};
use super::{max_unavailable, status, wanted};
use crate::meta;
use crate::status::ApiError;
use crate::store::Object;
use crate::workloads::desk::{PODS, REPLICA_SETS};
use crate::workloads::{controlled, pod};

/// Old pods go as new ones come, within the limits.
pub(super) fn rolling(sets: &mut Sets<'_>, deployment: &Value) -> Result<(), ApiError> {
    sets.ensure_new(deployment)?;
    if grow_new(sets, deployment)? || shrink_old(sets, deployment)? {
        return Ok(());
    }
    clean_up_when_complete(sets, deployment)
}

/// Old pods go before new ones come.
pub(super) fn recreate(sets: &mut Sets<'_>, deployment: &Value) -> Result<(), ApiError> {
    sets.sync_new(deployment)?;
    let mut shrunk = false;
    for set in active(&sets.old) {
        shrunk |= sets.resize(deployment, &set, 0, false)?;
    }
    if shrunk || has_old_pods(sets, deployment) {
        return Ok(());
    }
    sets.ensure_new(deployment)?;
    if let Some(new) = sets.new.clone() {
        sets.resize(deployment, &new, wanted(deployment), false)?;
    }
    clean_up_when_complete(sets, deployment)
}

fn grow_new(sets: &mut Sets<'_>, deployment: &Value) -> Result<bool, ApiError> {
    let Some(new) = sets.new.clone() else {
        return Ok(false);
    };
    let (size, wanted) = (replicas(&new), wanted(deployment));
    let goal = match size > wanted {
        true => wanted,
        false => sets.room(deployment, size),
    };
    sets.resize(deployment, &new, goal, false)
}

/// Takes from the old sets what may be missing: first pods that are of no use, then others.
fn shrink_old(sets: &mut Sets<'_>, deployment: &Value) -> Result<bool, ApiError> {
    let spare = spare(sets, deployment);
    if spare <= 0 {
        return Ok(false);
    }
    let mut gone = 0;
    for set in active(&sets.old) {
        let useless = (replicas(&set) - available(&set)).clamp(0, spare - gone);
        if useless > 0 {
            sets.resize(deployment, &set, replicas(&set) - useless, false)?;
            gone += useless;
        }
    }
    let minimum = wanted(deployment) - max_unavailable(deployment);
    let mut surplus = sets.all().map(|set| available(set)).sum::<i64>() - minimum;
    for set in active(&sets.old) {
        let leaving = replicas(&set).min(surplus).max(0);
        if leaving > 0 {
            sets.resize(deployment, &set, replicas(&set) - leaving, false)?;
            surplus -= leaving;
            gone += leaving;
        }
    }
    Ok(gone > 0)
}

/// How many pods can go without anybody missing them.
fn spare(sets: &Sets<'_>, deployment: &Value) -> i64 {
    let all: i64 = sets.all().map(|set| replicas(set)).sum();
    let coming = sets
        .new
        .as_ref()
        .map_or(0, |new| replicas(new) - available(new));
    let minimum = wanted(deployment) - max_unavailable(deployment);
    let old: i64 = sets.old.iter().map(|set| replicas(set)).sum();
    if old == 0 { 0 } else { all - minimum - coming }
}

fn available(set: &Value) -> i64 {
    set["status"]["availableReplicas"].as_i64().unwrap_or(0)
}

fn active(sets: &[Object]) -> Vec<Object> {
    sets.iter()
        .filter(|set| replicas(set) > 0)
        .cloned()
        .collect()
}

fn has_old_pods(sets: &Sets<'_>, deployment: &Value) -> bool {
    let pods = sets.desk.list(PODS, Some(meta::namespace(deployment)));
    let running = |pod: &&Object| !pod::has_ended(pod);
    pods.iter().filter(running).any(|pod| {
        sets.old
            .iter()
            .any(|set| controlled::is_controlled_by(pod, set))
    })
}

fn clean_up_when_complete(sets: &Sets<'_>, deployment: &Value) -> Result<(), ApiError> {
    match status::is_complete(deployment, &deployment["status"]) {
        true => clean_up(sets, deployment),
        false => Ok(()),
    }
}

/// Deletes the oldest sets that are beyond the history.
pub(super) fn clean_up(sets: &Sets<'_>, deployment: &Value) -> Result<(), ApiError> {
    let kept = deployment["spec"]["revisionHistoryLimit"]
        .as_i64()
        .unwrap_or(10);
    let mut old: Vec<&Object> = sets
        .old
        .iter()
        .filter(|set| !meta::is_deleting(set))
        .collect();
    old.sort_by_key(|set| revision(set));
    let surplus = old.len().saturating_sub(usize::try_from(kept).unwrap_or(0));
    for set in old.into_iter().take(surplus) {
        let empty = replicas(set) == 0 && set["status"]["replicas"].as_i64().unwrap_or(0) == 0;
        if empty {
            sets.desk.delete(REPLICA_SETS, set)?;
        }
    }
    Ok(())
}
