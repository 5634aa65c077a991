//! A deployment that is resized, perhaps in the middle of a change.

use std::cmp::Reverse;

use serde_json::Value;

use super::sets::{DESIRED, MAXIMUM, Sets, replicas};
use super::{max_surge, wanted};
use crate::meta;
use crate::status::ApiError;
use crate::store::Object;

/// Whether a set was made for another size of the deployment.
pub(super) fn is_wanted(deployment: &Value, sets: &Sets<'_>) -> bool {
    let wanted = wanted(deployment).to_string();
    sets.all()
        .filter(|set| replicas(set) > 0)
        .filter_map(|set| meta::annotation(set, DESIRED))
        .any(|desired| desired != wanted)
}

/// Gives every set its share of the new size.
pub(super) fn proportionally(sets: &mut Sets<'_>, deployment: &Value) -> Result<(), ApiError> {
    let wanted = wanted(deployment);
    let active: Vec<Object> = sets
        .all()
        .filter(|set| replicas(set) > 0)
        .cloned()
        .collect();
    let only = match active.as_slice() {
        [] => sets.new.clone().or_else(|| sets.old.last().cloned()),
        [one] => Some(one.clone()),
        _ => None,
    };
    if let Some(only) = only {
        return sets.resize(deployment, &only, wanted, false).map(drop);
    }
    if active.is_empty() {
        return Ok(());
    }
    if is_saturated(deployment, sets.new.as_deref()) {
        let new = sets.new.as_ref().map(|new| meta::uid(new).to_owned());
        for set in active
            .iter()
            .filter(|set| Some(meta::uid(set)) != new.as_deref())
        {
            sets.resize(deployment, set, 0, false)?;
        }
        return Ok(());
    }
    if deployment["spec"]["strategy"]["type"] == "Recreate" {
        return Ok(());
    }
    for (set, size) in shares(deployment, active) {
        sets.resize(deployment, &set, size, true)?;
    }
    Ok(())
}

fn is_saturated(deployment: &Value, new: Option<&Value>) -> bool {
    let wanted = wanted(deployment);
    new.is_some_and(|new| {
        replicas(new) == wanted
            && meta::annotation(new, DESIRED) == Some(&wanted.to_string())
            && new["status"]["availableReplicas"].as_i64().unwrap_or(0) == wanted
    })
}

/// The sizes of the sets, largest set first, which also gets what does not divide.
fn shares(deployment: &Value, mut active: Vec<Object>) -> Vec<(Object, i64)> {
    let (wanted, total) = (
        wanted(deployment),
        active.iter().map(|set| replicas(set)).sum::<i64>(),
    );
    let allowed = if wanted > 0 {
        wanted + max_surge(deployment)
    } else {
        0
    };
    let to_add = allowed - total;
    let born = |set: &Object| meta::text(set, "creationTimestamp").to_owned();
    match to_add > 0 {
        true => active.sort_by_cached_key(|set| Reverse((replicas(set), born(set)))),
        false => active.sort_by_cached_key(|set| (Reverse(replicas(set)), born(set))),
    }
    let mut added = 0;
    let mut sized: Vec<(Object, i64)> = Vec::new();
    for set in active {
        let share = portion(deployment, &set, to_add, added);
        added += share;
        let size = replicas(&set) + share;
        sized.push((set, size));
    }
    if let Some((_, size)) = sized.first_mut() {
        *size = (*size + to_add - added).max(0);
    }
    sized
}

fn portion(deployment: &Value, set: &Value, to_add: i64, added: i64) -> i64 {
    if to_add == added {
        return 0;
    }
    let (fraction, allowed) = (fraction(deployment, set), to_add - added);
    match to_add > 0 {
        true => fraction.min(allowed),
        false => fraction.max(allowed),
    }
}

fn fraction(deployment: &Value, set: &Value) -> i64 {
    let (size, wanted) = (replicas(set), wanted(deployment));
    if wanted == 0 {
        return -size;
    }
    let noted = meta::annotation(set, MAXIMUM).and_then(|text| text.parse::<i64>().ok());
    let before = noted.filter(|before| *before > 0);
    let before = before.or_else(|| deployment["status"]["replicas"].as_i64());
    let Some(before) = before.filter(|before| *before > 0) else {
        return 0;
    };
    let scaled = size * (wanted + max_surge(deployment));
    (2 * scaled + before) / (2 * before) - size
}
