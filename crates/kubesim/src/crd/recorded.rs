//! Holds custom resources to what a real API server made of the same objects
//! (`data/custom.json`, written by `data/record_custom.py`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Definition, accept, compile};
use crate::strategy::Nothing;
use crate::structural;

/// Objects that the simulator answers otherwise, by their text, and why.
const GAPS: &[(&str, &str)] = &[];

fn recorded() -> Value {
    let text = include_str!("../../data/custom.json");
    serde_json::from_str(text).expect("recorded replies")
}

fn definition(recorded: &Value) -> Definition {
    compile(&recorded["definition"]).expect("a definition that the real server took")
}

fn answer(definition: &Definition, given: &Value) -> Value {
    let strategy = definition.strategy("v1").expect("the version");
    let mut object = given.clone();
    object["metadata"]["namespace"] = "default".into();
    structural::prune(&strategy.schema(), &mut object);
    structural::drop_nulls(&strategy.schema(), &mut object);
    strategy.default(&mut object);
    strategy.prepare_create(&mut object, &Nothing);
    let errors = strategy.validate_create(&object);
    if errors.is_empty() {
        object["metadata"]
            .as_object_mut()
            .map(|meta| meta.remove("namespace"));
        return json!({"object": object});
    }
    let causes: BTreeSet<_> = errors
        .iter()
        .map(|e| (e.field.clone(), e.reason(), e.message()))
        .collect();
    json!({"causes": causes, "code": 422})
}

#[test]
fn custom_resources_answer_like_the_real_server() {
    let recorded = recorded();
    let definition = definition(&recorded);
    let mut wrong = Vec::new();
    for case in recorded["cases"].as_array().expect("cases") {
        let mut expected = case["reply"].clone();
        if expected.get("causes").is_some() {
            expected
                .as_object_mut()
                .map(|reply| reply.remove("message"));
        }
        let found = answer(&definition, &case["given"]);
        let text = case["given"].to_string();
        let is_gap = GAPS.iter().any(|(part, _)| text.contains(part));
        if (expected == found) == is_gap {
            wrong.push(format!("{text}\n  real {expected}\n  ours {found}"));
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
fn the_status_of_a_definition_is_that_of_the_real_server() {
    let recorded = recorded();
    let mut crd = recorded["definition"].clone();
    let expected = without_times(crd["status"].take());
    crd["status"] = json!({"storedVersions": ["v1"]});
    assert!(accept(&mut crd, [], "2026-01-01T00:00:00Z"));
    assert_eq!(without_times(crd["status"].take()), expected);
}

fn without_times(mut status: Value) -> Value {
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        condition
            .as_object_mut()
            .map(|c| c.remove("lastTransitionTime"));
        condition
            .as_object_mut()
            .map(|c| c.remove("observedGeneration"));
    }
    status
}
