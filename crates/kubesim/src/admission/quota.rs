//! Quotas: how much a namespace may hold.
//!
//! As on a real server, a quota counts only once a controller has taken note of it in its status.

use serde_json::Value;

use super::usage::{self, Usage};
use super::{Act, Operation};
use crate::meta;
use crate::quantity::Quantity;
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
    let complaint = missing(act, quota, &hard, object);
    match complaint.or_else(|| exceeding(act, quota, &hard, object)) {
        None => Ok(()),
        Some(why) => Err(ApiError::forbidden(
            &act.resource.id,
            meta::name(object),
            &why,
        )),
    }
}

/// What a new pod would have to state, if it does not.
fn missing(act: &Act<'_>, quota: &Value, hard: &Usage, object: &Value) -> Option<String> {
    if !act.is_about("", "pods") || act.operation != Operation::Create {
        return None;
    }
    let missing = unstated(hard, object);
    let name = meta::name(quota);
    (!missing.is_empty()).then(|| format!("failed quota: {name}: must specify {missing}"))
}

/// What there would be too much of, if there would.
fn exceeding(act: &Act<'_>, quota: &Value, hard: &Usage, object: &Value) -> Option<String> {
    let id = &act.resource.stored;
    let charged = usage::charge(id, object);
    let before = act
        .old
        .map(|old| usage::charge(id, old))
        .unwrap_or_default();
    let grows = |name: &String| {
        before
            .get(name)
            .is_none_or(|before| charged.get(name).is_some_and(|now| now > before))
    };
    // Looking up what is used takes a walk over the namespace.
    let limited = |name: &&String| hard.contains_key(*name);
    if !charged.keys().filter(limited).any(grows) {
        return None;
    }
    let used = usage::used(act.cluster, quota, Some((id, &meta::key(object))));
    let too_much = |name: &String, amount: &Quantity| {
        let limits = hard.get(name).zip(used.get(name));
        limits.is_some_and(|(hard, used)| used.plus(*amount) > *hard)
    };
    let exceeded: Vec<&String> = charged
        .iter()
        .filter(|(name, amount)| !amount.is_zero() && grows(name) && too_much(name, amount))
        .map(|(name, _)| name)
        .collect();
    let list = |usage: &Usage| {
        let parts = exceeded
            .iter()
            .filter_map(|name| Some(format!("{name}={}", usage.get(*name)?)));
        parts.collect::<Vec<_>>().join(",")
    };
    (!exceeded.is_empty()).then(|| {
        format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            meta::name(quota),
            list(&charged),
            list(&used),
            list(hard)
        )
    })
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
