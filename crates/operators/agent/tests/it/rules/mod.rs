//! Rules of the translation that no golden file shows, each with the smallest agent that shows it.

mod cards;
mod models;
mod pods;
mod skills;
mod tools;

use evenkeel_agent_operator::offline::{AgentName, Documents, OfflineError};
use evenkeel_agent_operator::translate::{TranslateError, Translation};
use serde_json::Value;

const MODEL: &str = "\
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: m, namespace: n}
spec: SPEC
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: n}
stringData: {k: v}
---
";

const AGENT: &str = "\
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: a, namespace: n}
spec: SPEC
---
";

fn try_translate(documents: &str) -> Result<Translation, TranslateError> {
    let mut read = Documents::new(None);
    read.read("documents", documents).expect("documents");
    let name = AgentName {
        namespace: "n".to_owned(),
        name: "a".to_owned(),
    };
    read.translate(&name).map_err(|error| match error {
        OfflineError::Untranslatable { source, .. } => *source,
        other => panic!("{other}"),
    })
}

fn translated(documents: &str) -> Translation {
    try_translate(documents).unwrap_or_else(|error| panic!("{error}"))
}

fn file<'a>(translation: &'a Translation, name: &str) -> &'a str {
    let found = translation.files().find(|(file, _)| *file == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

/// The first object of a kind, as it is shown.
fn object(translation: &Translation, kind: &str) -> Value {
    let found = translation
        .manifest()
        .into_iter()
        .find(|object| object["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}"))
}

fn pod(translation: &Translation) -> Value {
    object(translation, "Deployment")["spec"]["template"]["spec"].clone()
}

/// Variables before those that every agent has, as `NAME=value` or `NAME<-secret/key`.
fn variables(translation: &Translation) -> Vec<String> {
    let pod = pod(translation);
    let env = pod["containers"][0]["env"].as_array().expect("env").iter();
    env.take_while(|variable| variable["name"] != "KAGENT_NAMESPACE")
        .map(|variable| {
            let name = variable["name"].as_str().expect("a name");
            match variable["value"].as_str() {
                Some(value) => format!("{name}={value}"),
                None => {
                    let from = &variable["valueFrom"]["secretKeyRef"];
                    let text = |field: &str| from[field].as_str().unwrap_or("").to_owned();
                    format!("{name}<-{}/{}", text("name"), text("key"))
                }
            }
        })
        .collect()
}

fn simple_agent() -> String {
    AGENT.replace(
        "SPEC",
        "{type: Declarative, declarative: {systemMessage: hi, modelConfig: m}}",
    )
}

fn with_model(spec: &str) -> Translation {
    translated(&(MODEL.replace("SPEC", spec) + &simple_agent()))
}

#[track_caller]
fn model_becomes(spec: &str, config: &str, env: &[&str]) {
    let translation = with_model(spec);
    let text = file(&translation, "config.json");
    let wanted = format!(
        "{{\"model\":{config},\"description\":\"\",\"instruction\":\"hi\",\"stream\":false}}"
    );
    assert_eq!(text, wanted);
    assert_eq!(variables(&translation), env);
}

/// An agent with this model, all of whose `declarative` is given.
fn declared(model: &str, declarative: &str) -> Translation {
    let agent = AGENT.replace(
        "SPEC",
        &format!("{{type: Declarative, declarative: {{systemMessage: hi, modelConfig: m, {declarative}}}}}"),
    );
    translated(&(MODEL.replace("SPEC", model) + &agent))
}

/// The names of the volumes of the pod, in order.
fn volumes(translation: &Translation) -> Vec<String> {
    let pod = pod(translation);
    let volumes = pod["volumes"].as_array().expect("volumes").iter();
    let name = |volume: &Value| volume["name"].as_str().expect("a name").to_owned();
    volumes.map(name).collect()
}

/// A document of its kind in the namespace of the agent.
fn document(kind: &str, name: &str, rest: &str) -> String {
    let version = match kind {
        "MCPServer" => "kagent.dev/v1alpha1",
        "Service" | "Secret" | "ConfigMap" => "v1",
        _ => "kagent.dev/v1alpha2",
    };
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: n}}\n{rest}\n---\n"
    )
}
