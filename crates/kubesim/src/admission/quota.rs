//! Quotas: how much a namespace may hold.
//!
//! As on a real server, a quota counts only once a controller has taken note of it in its status.

use serde_json::Value;

use super::usage::{self, Usage};
use super::{Act, Operation};
use crate::meta;
use crate::status::ApiError;
use crate::store::ResourceId;

/// Amounts that every container must state when a quota limits them.
const STATED: [&str; 6] = [
    "cpu",
    "memory",
    "requests.cpu",
    "requests.memory",
    "limits.cpu",
    "limits.memory",
];

/// Refuses an object for which a quota has no room.
pub(super) fn check(act: &Act<'_>, object: &Value) -> Result<(), ApiError> {
    if !act.resource.namespaced || !act.subresource.is_empty() {
        return Ok(());
    }
    let snapshot = act
        .cluster
        .store()
        .snapshot(&ResourceId::new("", "resourcequotas"));
    let mut quotas = snapshot.in_namespace(Some(meta::namespace(object)));
    quotas.try_for_each(|(_, quota)| {
        let known = quota["status"]["hard"].is_object();
        let concerned = known && usage::is_in_scope(quota, &act.resource.stored, object);
        match concerned {
            true => check_one(act, quota, object),
            false => Ok(()),
        }
    })
}

fn check_one(act: &Act<'_>, quota: &Value, object: &Value) -> Result<(), ApiError> {
    let hard = usage::hard(quota);
    let id = &act.resource.stored;
    let forbid = |why: &str| {
        Err(ApiError::forbidden(
            &act.resource.id,
            meta::name(object),
            why,
        ))
    };
    let name = meta::name(quota);
    if act.is_about("", "pods") && act.operation == Operation::Create {
        let missing = unstated(&hard, object);
        if !missing.is_empty() {
            return forbid(&format!("failed quota: {name}: must specify {missing}"));
        }
    }
    let charged = usage::charge(id, object);
    let before = act
        .old
        .map(|old| usage::charge(id, old))
        .unwrap_or_default();
    let grows = |name: &&String| {
        before
            .get(*name)
            .is_none_or(|before| charged.get(*name).is_some_and(|now| now > before))
    };
    if !charged
        .keys()
        .filter(|name| hard.contains_key(*name))
        .any(|name| grows(&name))
    {
        return Ok(());
    }
    let key = meta::key(object);
    let used = usage::used(act.cluster, quota, Some((id, &key)));
    let exceeded: Vec<&String> = charged
        .iter()
        .filter(|(name, amount)| !amount.is_zero() && grows(name))
        .filter(|(name, amount)| {
            hard.get(*name)
                .zip(used.get(*name))
                .is_some_and(|(hard, used)| used.plus(**amount) > *hard)
        })
        .map(|(name, _)| name)
        .collect();
    if exceeded.is_empty() {
        return Ok(());
    }
    let list = |usage: &Usage| {
        let parts = exceeded
            .iter()
            .filter_map(|name| Some(format!("{name}={}", usage.get(*name)?)));
        parts.collect::<Vec<_>>().join(",")
    };
    forbid(&format!(
        "exceeded quota: {name}, requested: {}, used: {}, limited: {}",
        list(&charged),
        list(&used),
        list(&hard)
    ))
}

/// The amounts that containers of a pod do not state, in words.
fn unstated(hard: &Usage, pod: &Value) -> String {
    let containers = ["containers", "initContainers"];
    let containers: Vec<&Value> = containers
        .iter()
        .flat_map(|list| pod["spec"][list].as_array().into_iter().flatten())
        .collect();
    let mut missing = Vec::new();
    let mut names: Vec<&str> = STATED
        .into_iter()
        .filter(|name| hard.contains_key(*name))
        .collect();
    names.sort_unstable();
    for name in names {
        let (field, resource) = name.split_once('.').unwrap_or(("requests", name));
        let silent = containers
            .iter()
            .filter(|one| one["resources"][field].get(resource).is_none());
        let mut silent: Vec<&str> = silent.filter_map(|one| one["name"].as_str()).collect();
        silent.sort_unstable();
        if !silent.is_empty() {
            missing.push(format!("{name} for: {}", silent.join(",")));
        }
    }
    missing.join("; ")
}
