//! What is configured: maps, secrets, namespaces, quotas, classes.

use serde_json::{Value, json};

use super::{Cells, name_and_age, name_and_creation};
use crate::meta;
use crate::tables::Seen;
use crate::tables::text::{count, number, or, text};

pub(super) fn core(plural: &str) -> Cells {
    match plural {
        "configmaps" => config_map,
        "secrets" => secret,
        "namespaces" => namespace,
        "resourcequotas" => quota,
        "serviceaccounts" => name_and_age,
        _ => name_and_creation,
    }
}

/// Resources of groups that have few of them.
pub(super) fn others(plural: &str) -> Cells {
    match plural {
        "poddisruptionbudgets" => disruption_budget,
        "priorityclasses" => priority_class,
        "leases" => lease,
        "runtimeclasses" => runtime_class,
        "deviceclasses" | "resourceclaimtemplates" => name_and_age,
        "resourceclaims" => resource_claim,
        "resourceslices" => resource_slice,
        _ => name_and_creation,
    }
}

fn config_map(seen: Seen<'_>) -> Vec<Value> {
    let size = count(&seen.object["data"]) + count(&seen.object["binaryData"]);
    vec![json!(seen.name()), json!(size), json!(seen.age())]
}

fn secret(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        json!(text(&seen.object["type"])),
        json!(count(&seen.object["data"])),
        json!(seen.age()),
    ]
}

fn namespace(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        json!(text(&seen.status()["phase"])),
        json!(seen.age()),
    ]
}

fn quota(seen: Seen<'_>) -> Vec<Value> {
    let (hard, used) = (&seen.status()["hard"], &seen.status()["used"]);
    let all = hard.as_object().into_iter().flatten();
    let (limits, requests): (Vec<_>, Vec<_>) =
        all.partition(|(name, _)| name.starts_with("limits."));
    let shown = |list: Vec<(&String, &Value)>| {
        let texts = list
            .into_iter()
            .map(|(name, limit)| format!("{name}: {}/{}", or(&used[name], "0"), or(limit, "0")));
        texts.collect::<Vec<_>>().join(", ")
    };
    vec![
        json!(seen.name()),
        json!(shown(requests)),
        json!(shown(limits)),
        json!(seen.age()),
    ]
}

fn disruption_budget(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let limit = |value: &Value| match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => "N/A".to_owned(),
    };
    vec![
        json!(seen.name()),
        json!(limit(&spec["minAvailable"])),
        json!(limit(&spec["maxUnavailable"])),
        json!(number(&status["disruptionsAllowed"])),
        json!(seen.age()),
    ]
}

fn priority_class(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        json!(number(&seen.object["value"])),
        json!(seen.object["globalDefault"] == true),
        json!(seen.age()),
        json!(text(&seen.object["preemptionPolicy"])),
    ]
}

fn lease(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        json!(text(&seen.spec()["holderIdentity"])),
        json!(seen.age()),
    ]
}

fn runtime_class(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        json!(text(&seen.object["handler"])),
        json!(seen.age()),
    ]
}

fn resource_claim(seen: Seen<'_>) -> Vec<Value> {
    let status = seen.status();
    let deleted = meta::is_deleting(seen.object);
    let mut states = Vec::new();
    if deleted {
        states.push("deleted");
    }
    match &status["allocation"] {
        Value::Null if deleted => {}
        Value::Null => states.push("pending"),
        _ => states.push("allocated"),
    }
    if !status["allocation"].is_null() && count(&status["reservedFor"]) > 0 {
        states.push("reserved");
    }
    vec![
        json!(seen.name()),
        json!(states.join(",")),
        json!(seen.age()),
    ]
}

fn resource_slice(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    vec![
        json!(seen.name()),
        json!(text(&spec["nodeName"])),
        json!(text(&spec["driver"])),
        json!(text(&spec["pool"]["name"])),
        json!(seen.age()),
    ]
}
