//! Holds the built-in kinds to what a real API server made of the same objects
//! (`data/objects.json`, written by `data/record_objects.py`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::strategy;
use crate::strategy::{Nothing, Part, Strategy};
use crate::structural;

/// Cases that the simulator answers otherwise, and why. `GAPS.md` has the same list in prose.
const GAPS: &[(&str, &str)] = &[
    (
        "Pod spec.volumes [{\"name\": \"v\", \"projected\": {\"sources\": [{\"serviceAccountTok",
        "tokens need a service account, which nothing puts into pods here",
    ),
    (
        "Pod spec.priorityClassName \"A\"",
        "pods with an unknown priority class are not refused by admission",
    ),
    (
        "Deployment spec.template.spec.containers.0.image \" x\"",
        "images that cannot be parsed are taken to have no tag",
    ),
    (
        "change EndpointSlice addressType",
        "endpoints are judged again even when they did not change",
    ),
    (
        "change Job spec.template.spec.containers.0.image",
        "values are shown as JSON of the API, not of the server's inner types",
    ),
    (
        "CustomResourceDefinition spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size.type \"float\"",
        "a default is not checked against a type that does not exist",
    ),
    (
        "CustomResourceDefinition spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.o {\"type\": \"string\", \"pattern\"",
        "regular expressions are refused in the words of another parser",
    ),
];

const UID: &str = "11111111-1111-1111-1111-111111111111";

struct Case {
    name: String,
    strategy: std::sync::Arc<dyn Strategy>,
    kind: String,
    version: String,
    given: Value,
    old: Option<Value>,
    reply: Value,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../../data/objects.json");
    let list: Vec<Value> = serde_json::from_str(text).expect("a list of cases");
    list.iter().map(read).collect()
}

fn read(case: &Value) -> Case {
    let text = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
    let (group, version, kind) = (text("group"), text("version"), text("kind"));
    let namespaced = case["namespaced"] == true;
    let mut given = case["given"].clone();
    if namespaced {
        given["metadata"]["namespace"] = "default".into();
    }
    let old = case.get("old").cloned();
    if old.is_none() {
        given["metadata"]["uid"] = UID.into();
    }
    Case {
        name: text("name"),
        strategy: strategy(&group, &version, &kind, namespaced),
        kind,
        version,
        given,
        old,
        reply: case["reply"].clone(),
    }
}

/// What the simulator makes of the object, in the shape of the recorded reply.
fn answer(case: &Case) -> Value {
    let schema = case.strategy.schema();
    let mut object = case.given.clone();
    structural::prune(&schema, &mut object);
    if let Some(words) = structural::type_mismatch(&schema, &object, &case.kind) {
        let (kind, version) = (&case.kind, &case.version);
        let message =
            format!("{kind} in version {version:?} cannot be handled as a {kind}: {words}");
        return json!({"message": message, "code": 400});
    }
    case.strategy.default(&mut object);
    let errors = match &case.old {
        None => {
            case.strategy.prepare_create(&mut object, &Nothing);
            case.strategy.validate_create(&object)
        }
        Some(old) => {
            case.strategy
                .prepare_update(Part::Main, &mut object, old, &Nothing);
            case.strategy.validate_update(Part::Main, &object, old)
        }
    };
    if errors.is_empty() {
        return json!({"object": without_identity(object)});
    }
    let causes: BTreeSet<_> = errors
        .iter()
        .map(|e| (e.field.clone(), e.reason(), e.message()))
        .collect();
    json!({"causes": causes, "code": 422})
}

fn without_identity(mut object: Value) -> Value {
    let meta = object["metadata"].as_object_mut().expect("metadata");
    for name in [
        "uid",
        "creationTimestamp",
        "managedFields",
        "resourceVersion",
        "namespace",
    ] {
        meta.remove(name);
    }
    object
}

/// What differs from run to run of the real server is not compared.
fn comparable(mut reply: Value) -> Value {
    if let Some(causes) = reply["causes"].as_array_mut() {
        causes.iter_mut().for_each(without_diff);
        reply.as_object_mut().map(|r| r.remove("message"));
    }
    if let Some(status) = reply
        .pointer_mut("/object/status")
        .and_then(Value::as_object_mut)
    {
        status.remove("lastPhaseTransitionTime");
    }
    let mut text = reply.to_string();
    for (from, to) in variable(&reply) {
        text = text.replace(&from, to);
    }
    serde_json::from_str(&text).expect("JSON")
}

/// Some messages of the real server end in a diff of its inner types, which we do not have.
fn without_diff(cause: &mut Value) {
    let Some(message) = cause[2].as_str() else {
        return;
    };
    let first = message.split('\n').next().unwrap_or_default().to_owned();
    cause[2] = first.into();
}

fn variable(reply: &Value) -> Vec<(String, &'static str)> {
    let object = &reply["object"];
    let mut found = Vec::new();
    let mut add = |value: &Value, name: &'static str| match value {
        Value::String(text) if !text.is_empty() && text != "None" => {
            found.push((format!("\"{text}\""), name));
        }
        Value::Number(number) => found.push((format!("\"nodePort\":{number}"), name)),
        _ => {}
    };
    if object["kind"] == "Service" {
        add(&object["spec"]["clusterIP"], "\"<address>\"");
        add(&object["spec"]["ports"][0]["nodePort"], "\"nodePort\":1");
    }
    add(
        &object["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"],
        "\"<uid>\"",
    );
    found
}

#[test]
fn built_in_kinds_answer_like_the_real_server() {
    let mut wrong = Vec::new();
    for case in cases() {
        let (expected, found) = (comparable(case.reply.clone()), comparable(answer(&case)));
        let is_gap = GAPS.iter().any(|(name, _)| case.name.starts_with(name));
        if (expected == found) == is_gap {
            let given = match &case.old {
                None => case.given.to_string(),
                Some(_) => format!("change to {}", case.given),
            };
            wrong.push(format!(
                "{}: {given}\n  real {expected}\n  ours {found}",
                case.name
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn defaulting_twice_is_defaulting_once() {
    for case in cases() {
        let schema = case.strategy.schema();
        let mut once = case.given.clone();
        structural::prune(&schema, &mut once);
        if structural::type_mismatch(&schema, &once, &case.kind).is_some() {
            continue;
        }
        case.strategy.default(&mut once);
        let mut twice = once.clone();
        case.strategy.default(&mut twice);
        assert_eq!(once, twice, "{}", case.name);
    }
}
