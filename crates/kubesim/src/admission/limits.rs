//! Limit ranges: what containers get when they ask for nothing, and what they may not exceed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Act, Operation};
use crate::meta;
use crate::quantity::Quantity;
use crate::status::ApiError;
use crate::store::ResourceId;

const NOTE: &str = "kubernetes.io/limit-ranger";
const LISTS: [(&str, &str); 2] = [
    ("containers", "container"),
    ("initContainers", "init container"),
];

type Amounts = BTreeMap<String, Quantity>;

fn ranges(act: &Act<'_>, object: &Value) -> Vec<Arc<Value>> {
    let snapshot = act
        .cluster
        .store()
        .snapshot(&ResourceId::new("", "limitranges"));
    let namespace = meta::namespace(object);
    snapshot
        .in_namespace(Some(namespace))
        .map(|(_, range)| range.clone())
        .collect()
}

fn limits<'r>(range: &'r Value, kind: &str) -> impl Iterator<Item = &'r Value> {
    let limits = range["spec"]["limits"].as_array().into_iter().flatten();
    let kind = kind.to_owned();
    limits.filter(move |limit| limit["type"] == kind.as_str())
}

/// Gives the containers of a new pod what the namespace has as defaults.
pub(super) fn fill_in(act: &Act<'_>, pod: &mut Value) {
    if !act.is_about("", "pods") {
        return;
    }
    for range in ranges(act, pod) {
        let mut notes = Vec::new();
        for (list, word) in LISTS {
            let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                fill_container(container, &range, word, &mut notes);
            }
        }
        if !notes.is_empty() {
            let note = format!("LimitRanger plugin set: {}", notes.join("; "));
            meta::annotate(pod, NOTE, &note);
        }
    }
}

fn fill_container(container: &mut Value, range: &Value, word: &str, notes: &mut Vec<String>) {
    let name = container["name"].as_str().unwrap_or_default().to_owned();
    for (field, default, noun) in [
        ("requests", "defaultRequest", "request"),
        ("limits", "default", "limit"),
    ] {
        let mut set = Vec::new();
        let defaults = limits(range, "Container").filter_map(|limit| limit[default].as_object());
        for (resource, amount) in defaults.flatten() {
            let place = &mut container["resources"][field];
            if place.get(resource).is_none() {
                place[resource] = amount.clone();
                set.push(resource.clone());
            }
        }
        if !set.is_empty() {
            set.sort();
            notes.push(format!("{} {noun} for {word} {name}", set.join(", ")));
        }
    }
}

/// Refuses what is beyond the limits.
pub(super) fn check(act: &Act<'_>, object: &Value) -> Result<(), ApiError> {
    let new = act.operation == Operation::Create;
    let mut faults = Vec::new();
    if act.is_about("", "pods") && new {
        for range in ranges(act, object) {
            check_pod(&range, object, &mut faults);
        }
    } else if act.is_about("", "persistentvolumeclaims") {
        for range in ranges(act, object) {
            let asked = amounts(&object["spec"]["resources"]["requests"]);
            for limit in limits(&range, "PersistentVolumeClaim") {
                check_claim(limit, &asked, &mut faults);
            }
        }
    }
    let why = match faults.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    Err(ApiError::forbidden(
        &act.resource.id,
        meta::name(object),
        &why,
    ))
}

fn check_pod(range: &Value, pod: &Value, faults: &mut Vec<String>) {
    let containers = LISTS
        .iter()
        .flat_map(|(list, _)| pod["spec"][list].as_array().into_iter().flatten());
    let containers: Vec<&Value> = containers.collect();
    for limit in limits(range, "Container") {
        for container in &containers {
            let resources = &container["resources"];
            check_amounts(
                limit,
                &amounts(&resources["requests"]),
                &amounts(&resources["limits"]),
                faults,
            );
        }
    }
    for limit in limits(range, "Pod") {
        check_amounts(limit, &sum(pod, "requests"), &sum(pod, "limits"), faults);
    }
}

fn amounts(list: &Value) -> Amounts {
    let list = list.as_object().into_iter().flatten();
    list.filter_map(|(name, amount)| Some((name.clone(), Quantity::of(amount)?)))
        .collect()
}

fn sum(pod: &Value, field: &str) -> Amounts {
    let mut sum = Amounts::new();
    for container in pod["spec"]["containers"].as_array().into_iter().flatten() {
        for (name, amount) in amounts(&container["resources"][field]) {
            sum.entry(name)
                .and_modify(|known| *known = known.plus(amount))
                .or_insert(amount);
        }
    }
    sum
}

fn check_amounts(limit: &Value, requests: &Amounts, limits: &Amounts, faults: &mut Vec<String>) {
    let kind = limit["type"].as_str().unwrap_or_default();
    for (name, least) in amounts(&limit["min"]) {
        let (request, limit) = (requests.get(&name), limits.get(&name));
        let low = |amount: &&Quantity| **amount < least;
        let fault = match (request, limit) {
            (None, _) => Some("  No request is specified".to_owned()),
            (Some(request), _) if *request < least => Some(format!(" but request is {request}")),
            (_, limit) => limit
                .filter(low)
                .map(|limit| format!(" but limit is {limit}")),
        };
        faults.extend(fault.map(|fault| bound("minimum", &name, kind, least, &fault)));
    }
    for (name, most) in amounts(&limit["max"]) {
        let (request, limit) = (requests.get(&name), limits.get(&name));
        let high = |amount: &&Quantity| **amount > most;
        let fault = match (limit, request) {
            (None, _) => Some("  No limit is specified".to_owned()),
            (Some(limit), _) if *limit > most => Some(format!(" but limit is {limit}")),
            (_, request) => request
                .filter(high)
                .map(|request| format!(" but request is {request}")),
        };
        faults.extend(fault.map(|fault| bound("maximum", &name, kind, most, &fault)));
    }
}

fn bound(word: &str, name: &str, kind: &str, amount: Quantity, fault: &str) -> String {
    let mark = if fault.starts_with("  ") { "." } else { "," };
    format!("{word} {name} usage per {kind} is {amount}{mark}{fault}")
}

fn check_claim(limit: &Value, asked: &Amounts, faults: &mut Vec<String>) {
    let kind = "PersistentVolumeClaim";
    for (word, field, is_wrong) in [
        (
            "minimum",
            "min",
            (|asked, bound| asked < bound) as fn(Quantity, Quantity) -> bool,
        ),
        ("maximum", "max", |asked, bound| asked > bound),
    ] {
        for (name, amount) in amounts(&limit[field]) {
            if let Some(asked) = asked.get(&name).filter(|asked| is_wrong(**asked, amount)) {
                faults.push(bound(
                    word,
                    &name,
                    kind,
                    amount,
                    &format!(" but request is {asked}"),
                ));
            }
        }
    }
}
