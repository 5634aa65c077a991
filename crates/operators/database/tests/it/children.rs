//! What a Database becomes: golden files, and laws that hold for every specification.

use evenkeel_database_operator::{Children, Database};
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
