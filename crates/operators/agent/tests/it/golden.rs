//! Our translation beside kagent's own.

use std::fs;
use std::path::{Path, PathBuf};

use evenkeel_agent_operator::offline::Documents;
use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

fn cases() -> Vec<String> {
    let files = fs::read_dir(folder("inputs")).expect("the golden inputs");
    let stem = |path: PathBuf| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let mut names: Vec<_> = files.filter_map(|file| stem(file.ok()?.path())).collect();
    names.sort();
    names
}

fn translated(case: &str) -> Value {
    let text = fs::read_to_string(folder("inputs").join(format!("{case}.yaml"))).expect("a file");
    let mut documents = Documents::new(None);
    documents.read(case, &text).expect("a golden input");
    let agents = documents.agents(None).expect("a target");
    let [agent] = agents.as_slice() else {
        panic!("one target, not {agents:?}");
    };
    documents.translate(agent).expect("an agent").golden()
}

fn wanted(case: &str) -> Value {
    let text = fs::read_to_string(folder("outputs").join(format!("{case}.json"))).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

/// The first places where two values differ, for people.
fn differences(at: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let null = &Value::Null;
                let (a, b) = (a.get(key).unwrap_or(null), b.get(key).unwrap_or(null));
                differences(&format!("{at}/{key}"), a, b, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{at}/{index}"), a, b, found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(format!("{at}\n  ours:   {a}\n  kagent: {b}")),
    }
}

/// Equal field for field, and byte for byte in embedded text: `config.json`, the card, the hash.
#[test]
fn every_golden_case_is_equal() {
    let cases = cases();
    assert_eq!(cases.len(), 19);
    let mut found = Vec::new();
    for case in &cases {
        differences(case, &translated(case), &wanted(case), &mut found);
        assert_eq!(translated(case) == wanted(case), found.is_empty(), "{case}");
    }
    assert!(
        found.is_empty(),
        "{} differences:\n{}",
        found.len(),
        found.join("\n")
    );
}
