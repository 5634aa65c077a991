//! Webhooks, admission policies, aggregated services, and who is served first.

use serde_json::{Value, json};

use super::{Cells, condition, name_and_creation};
use crate::tables::Seen;
use crate::tables::text::{NONE, UNSET, count, number, text};

pub(super) fn cells(plural: &str) -> Cells {
    match plural {
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => webhooks,
        "validatingadmissionpolicies" => validating_policy,
        "mutatingadmissionpolicies" => mutating_policy,
        "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings" => policy_binding,
        "apiservices" => api_service,
        "flowschemas" => flow_schema,
        "prioritylevelconfigurations" => priority_level,
        _ => name_and_creation,
    }
}

fn webhooks(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        json!(count(&seen.object["webhooks"])),
        json!(seen.age()),
    ]
}

fn validating_policy(seen: Seen<'_>) -> Vec<Value> {
    policy(seen, "validations")
}

fn mutating_policy(seen: Seen<'_>) -> Vec<Value> {
    policy(seen, "mutations")
}

fn policy(seen: Seen<'_>, steps: &str) -> Vec<Value> {
    let spec = seen.spec();
    let parameters = match &spec["paramKind"] {
        Value::Null => UNSET.to_owned(),
        kind => format!("{}/{}", text(&kind["apiVersion"]), text(&kind["kind"])),
    };
    vec![
        json!(seen.name()),
        json!(count(&spec[steps])),
        json!(parameters),
        json!(seen.age()),
    ]
}

fn policy_binding(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    let parameter = &spec["paramRef"];
    let parameter = match (text(&parameter["name"]), text(&parameter["namespace"])) {
        ("", _) => UNSET.to_owned(),
        (name, "") => format!("*/{name}"),
        (name, namespace) => format!("{namespace}/{name}"),
    };
    vec![
        json!(seen.name()),
        json!(text(&spec["policyName"])),
        json!(parameter),
        json!(seen.age()),
    ]
}

fn api_service(seen: Seen<'_>) -> Vec<Value> {
    let service = match &seen.spec()["service"] {
        Value::Null => "Local".to_owned(),
        service => format!("{}/{}", text(&service["namespace"]), text(&service["name"])),
    };
    let available = match condition(seen.status(), "Available") {
        None => "Unknown".to_owned(),
        Some(found) => match (text(&found["status"]), text(&found["reason"])) {
            (status @ "True", _) | (status, "") => status.to_owned(),
            (status, reason) => format!("{status} ({reason})"),
        },
    };
    vec![
        json!(seen.name()),
        json!(service),
        json!(available),
        json!(seen.age()),
    ]
}

fn flow_schema(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    let method = &spec["distinguisherMethod"];
    let dangling = condition(seen.status(), "Dangling").map(|found| text(&found["status"]));
    vec![
        json!(seen.name()),
        json!(text(&spec["priorityLevelConfiguration"]["name"])),
        json!(number(&spec["matchingPrecedence"])),
        json!(method["type"].as_str().unwrap_or(NONE)),
        json!(seen.age()),
        json!(dangling.unwrap_or("?")),
    ]
}

fn priority_level(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    let limited = &spec["limited"];
    let queuing = &limited["limitResponse"]["queuing"];
    let or_none = |value: &Value| match value {
        Value::Null => json!(NONE),
        value => value.clone(),
    };
    vec![
        json!(seen.name()),
        json!(text(&spec["type"])),
        or_none(&limited["nominalConcurrencyShares"]),
        or_none(&queuing["queues"]),
        or_none(&queuing["handSize"]),
        or_none(&queuing["queueLengthLimit"]),
        json!(seen.age()),
    ]
}
