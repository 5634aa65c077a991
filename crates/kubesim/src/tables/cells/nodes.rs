//! Nodes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::condition;
use crate::tables::Seen;
use crate::tables::text::{NONE, UNKNOWN, items, or, text};

pub(super) fn node(seen: Seen<'_>) -> Vec<Value> {
    let info = &seen.status()["nodeInfo"];
    let mut kernel = or(&info["kernelVersion"], UNKNOWN).to_owned();
    let architecture = text(&info["architecture"]);
    if !architecture.is_empty() {
        kernel.push_str(&format!(" ({architecture})"));
    }
    vec![
        json!(seen.name()),
        json!(state(seen)),
        json!(roles(&seen.object["metadata"]["labels"])),
        json!(seen.age()),
        json!(text(&info["kubeletVersion"])),
        json!(address(seen.status(), "InternalIP")),
        json!(address(seen.status(), "ExternalIP")),
        json!(or(&info["osImage"], UNKNOWN)),
        json!(kernel),
        json!(or(&info["containerRuntimeVersion"], UNKNOWN)),
    ]
}

fn state(seen: Seen<'_>) -> String {
    let ready = match condition(seen.status(), "Ready") {
        None => "Unknown",
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
    };
    match seen.spec()["unschedulable"] == true {
        true => format!("{ready},SchedulingDisabled"),
        false => ready.to_owned(),
    }
}

fn roles(labels: &Value) -> String {
    let labels = labels.as_object().into_iter().flatten();
    let roles = labels.filter_map(|(key, value)| match key.as_str() {
        "kubernetes.io/role" => value.as_str(),
        key => key.strip_prefix("node-role.kubernetes.io/"),
    });
    let roles: BTreeSet<&str> = roles.filter(|role| !role.is_empty()).collect();
    match roles.len() {
        0 => NONE.to_owned(),
        _ => roles.into_iter().collect::<Vec<_>>().join(","),
    }
}

fn address<'a>(status: &'a Value, kind: &str) -> &'a str {
    let mut addresses = items(&status["addresses"]).iter();
    addresses
        .find(|address| address["type"] == kind)
        .map_or(NONE, |address| text(&address["address"]))
}
