//! Generated stories: several managers apply, replace, patch and delete one object, on both
//! clusters; every reply and the final managedFields must agree.
//!
//! A story that differs is shrunk and stored under `scenarios/generated/`; after
//! `scenarios record generated` it is part of the suite for good.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use evenkeel_testkit::Cluster;
use evenkeel_testkit::scenario::{Clients, Library, Scenario, Step, differences, run};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::intents::{Kind, intent};

/// One thing that a manager does to the object.
#[derive(Debug, Clone)]
enum Act {
    Create(Value),
    Apply { body: Value, force: bool },
    Replace(Value),
    Merge(Value),
    Remove(&'static str),
    Delete,
}

#[derive(Debug, Clone)]
struct Deed {
    manager: &'static str,
    act: Act,
}

fn deed(kind: Kind) -> impl Strategy<Value = Deed> {
    let act = prop_oneof![
        1 => intent(kind).prop_map(Act::Create),
        6 => (intent(kind), any::<bool>()).prop_map(|(body, force)| Act::Apply { body, force }),
        2 => intent(kind).prop_map(Act::Replace),
        3 => intent(kind).prop_map(Act::Merge),
        1 => prop::sample::select(kind.removable()).prop_map(Act::Remove),
        1 => Just(Act::Delete),
    ];
    let manager = prop::sample::select(vec!["m1", "m2", "m3"]);
    (manager, act).prop_map(|(manager, act)| Deed { manager, act })
}

fn step(text: Value) -> Step {
    serde_json::from_value(text).expect("a step that is well formed")
}

/// The deed as steps of a scenario about the object `name`.
fn steps(kind: Kind, name: &str, deed: &Deed) -> Vec<Step> {
    let (short, manager) = (kind.short(), deed.manager);
    let named = |body: &Value| {
        let mut body = body.clone();
        body["metadata"]["name"] = json!(name);
        body
    };
    let patch = |parameters: &str, sort: &str, body: Value| {
        let line = format!("PATCH {short}/{name}?fieldManager={manager}{parameters}");
        vec![step(json!({"do": line, "type": sort, "body": body}))]
    };
    match &deed.act {
        Act::Create(body) => {
            let line = format!("POST {short}?fieldManager={manager}");
            vec![step(json!({"do": line, "body": named(body)}))]
        }
        Act::Apply { body, force: false } => patch("", "apply", named(body)),
        Act::Apply { body, force: true } => patch("&force=true", "apply", named(body)),
        Act::Merge(body) => patch("", "merge", body.clone()),
        Act::Remove(path) => patch("", "json", json!([{"op": "remove", "path": path}])),
        Act::Replace(body) => {
            let mut body = named(body);
            body["metadata"]["resourceVersion"] = json!("{{live:/metadata/resourceVersion}}");
            let line = format!("PUT {short}/{name}?fieldManager={manager}");
            let read = format!("GET {short}/{name}");
            vec![
                step(json!({"do": read, "id": "live", "quiet": true})),
                step(json!({"do": line, "body": body})),
            ]
        }
        Act::Delete => vec![step(json!({"do": format!("DELETE {short}/{name}")}))],
    }
}

fn story(kind: Kind, title: String, object: &str, deeds: &[Deed]) -> Scenario {
    let mut all: Vec<Step> = deeds
        .iter()
        .flat_map(|deed| steps(kind, object, deed))
        .collect();
    all.push(step(
        json!({"do": format!("GET {}/{object}", kind.short())}),
    ));
    let with = kind.definitions();
    Scenario {
        name: title,
        area: "generated".into(),
        with,
        workloads: false,
        steps: all,
    }
}

/// Where stories that differed are kept.
fn generated() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/generated")
}

/// A story with a line for each step (JSON is YAML, too).
fn written(story: &Scenario) -> String {
    let steps: Vec<String> = story
        .steps
        .iter()
        .map(|step| format!("    - {}\n", json!(step)))
        .collect();
    let with = json!(story.with);
    format!(
        "- name: {}\n  with: {with}\n  steps:\n{}",
        story.name,
        steps.concat()
    )
}

fn store(file: &str, stories: &[Scenario]) {
    let text: Vec<String> = stories.iter().map(written).collect();
    std::fs::create_dir_all(generated()).expect("make the directory");
    std::fs::write(generated().join(file), text.concat()).expect("store the stories");
}

fn deeds(kind: Kind) -> impl Strategy<Value = Vec<Deed>> {
    prop::collection::vec(deed(kind), 1..9)
}

/// How many cases proptest tries where nobody asks for another number.
const USUAL_CASES: u32 = 256;
/// How many are tried here: each is a conversation with a real server.
const MODEST_CASES: u32 = 40;

/// The same few cases every time, so that a change fails by its own doing; other ones, and as many
/// as wanted, for whoever asks with `PROPTEST_CASES`. Failures are stored as scenarios.
fn runner(kind: Kind) -> TestRunner {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let asked = config.cases != USUAL_CASES;
    if asked {
        return TestRunner::new(config);
    }
    let modest = Config {
        cases: MODEST_CASES,
        ..config
    };
    let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[kind as u8 + 100; 32]);
    TestRunner::new_with_rng(modest, dice)
}

fn agree_on(kind: Kind) {
    let runtime = Runtime::new().expect("a runtime");
    let Some(Cluster::Real(real)) = runtime.block_on(Cluster::shared_real_or_skip()) else {
        return;
    };
    let real = runtime
        .block_on(Clients::of_real(&real))
        .expect("clients of the real cluster");
    let library = Library::open().expect("the suite");
    let serial = AtomicU32::new(0);
    let compare = |deeds: Vec<Deed>| {
        // All stories of a kind share a namespace, which makes them quick; each has its object.
        let object = format!("o{}", serial.fetch_add(1, Ordering::Relaxed));
        let story = story(kind, format!("all-{}", kind.short()), &object, &deeds);
        let (expected, found) = runtime.block_on(async {
            let expected = run(&story, &library.definitions, &real).await;
            let simulated = Clients::of_simulated();
            (
                expected,
                run(&story, &library.definitions, &simulated).await,
            )
        });
        let wrong: Vec<String> = differences(&expected, &found)
            .iter()
            .map(ToString::to_string)
            .collect();
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(TestCaseError::fail(wrong.join("\n")))
        }
    };
    let mut runner = runner(kind);
    if let Err(TestError::Fail(reason, shrunk)) = runner.run(&deeds(kind), compare) {
        let story = story(kind, format!("found-{}", kind.short()), "a", &shrunk);
        store(&format!("found-{}.yaml", kind.short()), &[story]);
        panic!(
            "stored as scenarios/generated/found-{}.yaml:\n{shrunk:#?}\n{reason}",
            kind.short()
        );
    }
}

#[test]
fn config_maps_of_several_managers() {
    agree_on(Kind::ConfigMap);
}

#[test]
fn custom_resources_of_several_managers() {
    agree_on(Kind::Widget);
}

#[test]
fn deployments_of_several_managers() {
    agree_on(Kind::Deployment);
}

#[test]
fn services_of_several_managers() {
    agree_on(Kind::Service);
}

/// Writes stories with a fixed seed for machines that have no real server to compare with.
/// Run it by hand (`--ignored`), then `scenarios record generated`.
#[test]
#[ignore = "rewrites files of the suite"]
fn write_stories_for_the_record() {
    for kind in [
        Kind::ConfigMap,
        Kind::Widget,
        Kind::Deployment,
        Kind::Service,
    ] {
        let dice = TestRng::from_seed(RngAlgorithm::ChaCha, &[kind as u8; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), dice);
        let stories: Vec<Scenario> = (0..12)
            .map(|number| {
                let deeds = deeds(kind)
                    .new_tree(&mut runner)
                    .expect("a story")
                    .current();
                story(kind, format!("{}-{number}", kind.short()), "a", &deeds)
            })
            .collect();
        store(&format!("{}.yaml", kind.short()), &stories);
    }
}
