//! `evenkeel operator render`, on the golden files of kagent.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::running::evenkeel;

fn golden(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../operators/agent/tests/golden").join(name)
}

fn cases() -> Vec<String> {
    let files = fs::read_dir(golden("inputs")).expect("the golden inputs");
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let mut names: Vec<_> = files.filter_map(|file| stem(file.ok()?.path())).collect();
    names.sort();
    names
}

fn input(case: &str) -> String {
    let path = golden("inputs").join(format!("{case}.yaml"));
    path.to_str().expect("a plain path").to_owned()
}

fn wanted(case: &str) -> Value {
    let text = fs::read_to_string(golden("outputs").join(format!("{case}.json")));
    serde_json::from_str(&text.expect("a golden output")).expect("JSON")
}

fn render(arguments: &[&str]) -> Output {
    let all = [&["operator", "render"], arguments].concat();
    evenkeel(&all).output().expect("evenkeel runs")
}

fn said(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn complaint(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The documents that a golden input holds, as files of Kubernetes.
fn plain_documents(case: &str) -> String {
    let text = fs::read_to_string(input(case)).expect("a golden input");
    let file: Value = serde_saphyr::from_str(&text).expect("YAML");
    let objects = file["objects"].as_array().expect("objects");
    let document = |object: &Value| format!("---\n{object}\n");
    objects.iter().map(document).collect()
}

fn render_stdin(arguments: &[&str], text: &str) -> Output {
    let all = [&["operator", "render", "-f", "-"], arguments].concat();
    let mut child = evenkeel(&all)
        .stdin(Stdio::piped())
        .spawn()
        .expect("evenkeel runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("evenkeel ends")
}

#[test]
fn every_golden_input_renders_to_its_golden_output() {
    let cases = cases();
    assert_eq!(cases.len(), 19);
    for case in cases {
        let output = render(&["-f", &input(&case), "-o", "json"]);
        let ours: Value = serde_json::from_str(&said(&output)).expect("JSON");
        assert_eq!(ours, wanted(&case), "{case}");
    }
}

#[test]
fn the_same_documents_render_the_same_without_kagents_wrapping() {
    let cases = [
        ("anthropic_agent", "anthropic-agent", vec![]),
        ("agent_with_nested_agent", "parent-agent", vec![]),
        (
            "agent_with_default_sa",
            "agent-with-default-sa",
            vec!["--default-service-account", "global-workload-identity-sa"],
        ),
        (
            "agent_with_proxy_mcpserver_custom_timeout",
            "agent-with-proxy-mcpserver-timeout",
            vec!["--proxy-url", "http://proxy.kagent.svc.cluster.local:8080"],
        ),
    ];
    for (case, name, flags) in cases {
        let arguments = [&["--name", name, "-o", "json"], flags.as_slice()].concat();
        let output = render_stdin(&arguments, &plain_documents(case));
        let ours: Value = serde_json::from_str(&said(&output)).expect("JSON");
        assert_eq!(ours, wanted(case), "{case}");
    }
}

#[test]
fn manifests_are_yaml_documents_of_every_agent() {
    let output = render_stdin(&[], &plain_documents("agent_with_nested_agent"));
    let text = said(&output);
    let documents: Vec<Value> = text
        .split("---\n")
        .skip(1)
        .map(|document| serde_saphyr::from_str(document).expect("YAML"))
        .collect();
    let names: Vec<_> = documents
        .iter()
        .map(|object| format!("{} {}", object["kind"], object["metadata"]["name"]).replace('"', ""))
        .collect();
    let kinds = ["Secret", "ServiceAccount", "Deployment", "Service"];
    let wanted: Vec<_> = ["parent-agent", "specialist-agent"]
        .iter()
        .flat_map(|name| kinds.iter().map(move |kind| format!("{kind} {name}")))
        .collect();
    assert_eq!(names, wanted);
}

#[test]
fn documents_without_a_namespace_are_in_the_one_that_is_given() {
    let text = "\
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: default-model-config}
spec: {provider: OpenAI, model: gpt-4o}
---
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: bot}
spec: {type: Declarative, declarative: {systemMessage: hi}}
";
    let output = render_stdin(&["-n", "team", "-o", "json"], text);
    let ours: Value = serde_json::from_str(&said(&output)).expect("JSON");
    assert_eq!(ours["manifest"][0]["metadata"]["namespace"], "team");
}

#[test]
fn what_is_missing_is_named() {
    let agent = "\
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: bot, namespace: team}
spec: {type: Declarative, declarative: {systemMessage: hi, modelConfig: gpt}}
";
    let said = complaint(&render_stdin(&[], agent));
    assert!(said.contains("cannot translate Agent team/bot"), "{said}");
    assert!(
        said.contains("ModelConfig team/gpt does not exist"),
        "{said}"
    );

    let said = complaint(&render_stdin(&["--name", "bob"], agent));
    assert!(said.contains("there is no Agent */bob"), "{said}");
    assert!(said.contains("team/bot"), "{said}");

    let said = complaint(&render_stdin(&[], "kind: Agent\n"));
    assert!(said.contains("cannot read standard input"), "{said}");
    assert!(said.contains("apiVersion"), "{said}");

    let two = plain_documents("agent_with_nested_agent");
    let said = complaint(&render_stdin(&["-o", "json"], &two));
    assert!(said.contains("choose one agent with --name"), "{said}");
}
