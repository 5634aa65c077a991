//! What a Database becomes: golden files, and laws that hold for every specification.

use evenkeel_database_operator::{Children, Database};
use kube::CustomResourceExt;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::sample::{database, full};

fn documents(database: &Database) -> Vec<Value> {
    Children::of(database).documents().unwrap()
}

/// The golden files are also the promise that an upgrade of the operator restarts no database: a
/// change of a pod template in them is a restart of every server out there.
#[test]
fn the_smallest_database_becomes_what_the_golden_file_says() {
    insta::assert_json_snapshot!("smallest", documents(&database(json!({}))));
}

#[test]
fn a_database_with_everything_becomes_what_the_golden_file_says() {
    insta::assert_json_snapshot!("full", documents(&full()));
}

#[test]
fn a_stopped_database_keeps_everything_but_its_pods() {
    let running = documents(&database(json!({"replicas": 2})));
    let stopped = documents(&database(json!({"replicas": 2, "stopped": true})));
    let differing: Vec<_> = running
        .iter()
        .zip(&stopped)
        .filter(|(a, b)| a != b)
        .collect();
    let [(_, servers)] = differing[..] else {
        panic!("{} documents differ", differing.len());
    };
    assert_eq!(servers["spec"]["replicas"], 0);
    assert_eq!(running.len(), stopped.len());
}

/// Every optional field with a value that is not its default.
fn fields() -> Vec<(&'static str, Value)> {
    let mut whole = serde_json::to_value(full().spec).unwrap();
    // These change what the operator does, not what the children are.
    for other in ["passwordSecretRef", "deletionPolicy"] {
        whole.as_object_mut().unwrap().remove(other);
    }
    let mut fields: Vec<(&'static str, Value)> = whole
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (&*key.clone().leak(), value.clone()))
        .collect();
    fields.push(("version", json!("17.5")));
    fields.push(("stopped", json!(true)));
    fields
}

#[test]
fn every_field_has_an_effect() {
    let plain = documents(&database(json!({})));
    for (field, value) in fields() {
        if field == "version" && value == json!("17.2") {
            continue;
        }
        let changed = documents(&database(json!({field: value})));
        assert_ne!(plain, changed, "{field} has no effect");
    }
}

/// The places of everything in a value that is no object or list itself.
fn leaves(value: &Value, place: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(k, v)| (escaped(k), v)).collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(n, v)| (n.to_string(), v))
            .collect(),
        _ => return found.push(place.to_owned()),
    };
    for (name, child) in children {
        leaves(child, &format!("{place}/{name}"), found);
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The same without what is at `place`; nothing if that cannot be left out.
fn without(spec: &Value, place: &str) -> Option<Database> {
    let mut spec = spec.clone();
    let (parent, name) = place.rsplit_once('/')?;
    match spec.pointer_mut(parent)? {
        Value::Object(fields) => drop(fields.remove(&name.replace("~1", "/"))),
        Value::Array(items) => drop(items.remove(name.parse().ok()?)),
        _ => return None,
    }
    let mut database = full();
    database.spec = serde_json::from_value(spec).ok()?;
    Some(database)
}

/// Down to the last timeout of a probe: what is set has an effect, and unsetting it removes the effect.
#[test]
fn whatever_is_set_can_be_unset() {
    let spec = serde_json::to_value(full().spec).unwrap();
    let (whole, mut places) = (documents(&full()), Vec::new());
    leaves(&spec, "", &mut places);
    // These change what the operator does; the version is overruled by the image; and there is a
    // budget unless somebody says no.
    let elsewhere = [
        "/passwordSecretRef",
        "/deletionPolicy",
        "/version",
        "/disruptionBudget/enabled",
    ];
    let mut tried = 0;
    for place in places {
        if elsewhere.iter().any(|other| place.starts_with(other)) {
            continue;
        }
        if let Some(smaller) = without(&spec, &place) {
            assert_ne!(documents(&smaller), whole, "{place} has no effect");
            tried += 1;
        }
    }
    assert!(tried >= 30, "{tried}");
}

#[test]
fn there_is_a_budget_unless_somebody_says_no() {
    let budget = |wish: Value| Children::of(&database(json!({"disruptionBudget": wish}))).budget;
    assert!(budget(json!({})).is_some());
    assert_eq!(budget(json!({"enabled": false})), None);
}

/// A field that is added to the resource must be added to the example, or nothing above tests it.
#[test]
fn the_example_with_everything_has_every_field() {
    let definition = serde_json::to_value(Database::crd()).unwrap();
    let schema =
        &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let spec = serde_json::to_value(full().spec).unwrap();
    let of = |schema: &Value, value: &Value, of: &str| {
        let fields = schema["properties"].as_object().unwrap().keys();
        let missing = fields.filter(|field| value.get(field).is_none());
        missing
            .map(|field| format!("{of}{field}"))
            .collect::<Vec<_>>()
    };
    let mut missing = of(schema, &spec, "");
    for part in [
        "image",
        "storage",
        "service",
        "disruptionBudget",
        "passwordSecretRef",
        "probes",
    ] {
        missing.extend(of(
            &schema["properties"][part],
            &spec[part],
            &format!("{part}."),
        ));
    }
    assert_eq!(
        missing,
        ["paused", "stopped"],
        "those two have tests of their own"
    );
}

/// A subset of the fields, in any order.
fn some_fields() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let fields = fields();
    let count = fields.len();
    proptest::sample::subsequence(fields, 0..=count).prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is asked for, everything carries the label, sits in the namespace and has a name
    /// that Kubernetes takes; selectors never change, since they cannot.
    #[test]
    fn what_holds_for_every_specification(fields in some_fields()) {
        let mut spec = json!({});
        for (field, value) in fields {
            spec[field] = value;
        }
        let children = Children::of(&database(spec));
        let plain = Children::of(&database(json!({})));
        for document in children.documents().unwrap() {
            prop_assert_eq!(&document["metadata"]["labels"]["evenkeel.io/database"], "orders");
            prop_assert_eq!(&document["metadata"]["namespace"], "shop");
            prop_assert!(document["metadata"]["name"].as_str().unwrap().starts_with("orders"));
        }
        let selector = |children: &Children| children.servers.spec.clone().unwrap().selector;
        prop_assert_eq!(selector(&children), selector(&plain));
        let service = |children: &Children| children.servers.spec.clone().unwrap().service_name;
        prop_assert_eq!(service(&children), service(&plain));
    }
}

#[test]
fn pods_restart_when_a_setting_changes_and_only_then() {
    let checksum = |spec: Value| {
        let template = Children::of(&database(spec)).servers.spec.unwrap().template;
        let annotations = template.metadata.unwrap().annotations.unwrap();
        annotations["evenkeel.io/settings-checksum"].clone()
    };
    let plain = checksum(json!({}));
    assert_ne!(plain, checksum(json!({"settings": {"work_mem": "8MB"}})));
    assert_eq!(
        plain,
        checksum(json!({"replicas": 3, "podLabels": {"a": "b"}}))
    );
}
