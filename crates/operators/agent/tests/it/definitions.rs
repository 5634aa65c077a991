//! The definitions of the resources: what they say, and what an API server makes of them.

use std::fs;
use std::path::{Path, PathBuf};

use evenkeel_agent_operator::api::crds;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::bed::Bed;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../deploy/crds")
}

fn text(definition: &CustomResourceDefinition) -> String {
    serde_saphyr::to_string(definition).expect("YAML")
}

/// `cargo test -p evenkeel-agent-operator --test it -- --ignored write_definitions`
#[test]
#[ignore = "writes deploy/crds after the types were changed"]
fn write_definitions() {
    fs::create_dir_all(folder()).expect("a folder");
    for definition in crds::all() {
        let file = folder().join(format!("{}.yaml", definition.name_any()));
        fs::write(file, text(&definition)).expect("a file");
    }
}

#[test]
fn the_committed_definitions_are_those_of_the_types() {
    for definition in crds::all() {
        let file = folder().join(format!("{}.yaml", definition.name_any()));
        let committed = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            committed == text(&definition),
            "{}: see write_definitions",
            file.display()
        );
        let annotation = serde_json::to_string(&definition).expect("JSON").len();
        assert!(
            annotation < 256 * 1_000,
            "too long for kubectl apply: {annotation}"
        );
    }
}

fn definition(name: &str) -> Value {
    let all = crds::all();
    let found = all.iter().find(|each| each.name_any() == name).expect(name);
    serde_json::to_value(found).expect("JSON")
}

/// The schema of the stored version, at a path of properties.
fn schema(name: &str, path: &[&str]) -> Value {
    let definition = definition(name);
    let versions = definition["spec"]["versions"].as_array().expect("versions");
    let stored = versions
        .iter()
        .find(|version| version["storage"] == true)
        .expect("a version");
    let mut at = stored["schema"]["openAPIV3Schema"].clone();
    for part in path {
        at = match *part {
            "[]" => at["items"].clone(),
            field => at["properties"][field].clone(),
        };
    }
    assert!(at.is_object(), "{name} has no {path:?}");
    at
}

/// Versions, names and columns as kagent 0.10 has them.
#[test]
fn names_versions_and_columns_are_kagents() {
    let told = |name: &str| {
        let spec = definition(name)["spec"].clone();
        let versions = spec["versions"].as_array().expect("versions").iter();
        let versions: Vec<_> = versions
            .map(|version| {
                format!(
                    "{} {} {}",
                    version["name"], version["served"], version["storage"]
                )
            })
            .map(|text| text.replace('"', ""))
            .collect();
        let stored = spec["versions"].as_array().expect("versions").iter();
        let stored = stored.filter(|version| version["storage"] == true);
        let columns = stored.flat_map(|version| version["additionalPrinterColumns"].as_array());
        let columns: Vec<_> = columns
            .flatten()
            .map(|column| column["name"].clone())
            .collect();
        let names = &spec["names"];
        json!([versions, names["shortNames"], names["categories"], columns])
    };
    assert_eq!(
        told("agents.kagent.dev"),
        json!([
            ["v1alpha2 true true", "v1alpha1 true false"],
            null,
            null,
            ["Type", "Runtime", "Ready", "Accepted"]
        ])
    );
    assert_eq!(
        told("modelconfigs.kagent.dev"),
        json!([
            ["v1alpha2 true true", "v1alpha1 true false"],
            ["mc"],
            ["kagent"],
            ["Provider", "Model"]
        ])
    );
    assert_eq!(
        told("remotemcpservers.kagent.dev"),
        json!([
            ["v1alpha2 true true"],
            ["rmcps"],
            ["kagent"],
            ["Protocol", "URL", "Accepted"]
        ])
    );
    assert_eq!(
        told("mcpservers.kagent.dev"),
        json!([
            ["v1alpha1 true true"],
            ["mcps", "mcp"],
            ["kagent"],
            ["Ready", "Age"]
        ])
    );
}

#[test]
fn defaults_and_limits_are_kagents() {
    let agent = |path: &[&str]| schema("agents.kagent.dev", &[&["spec"], path].concat());
    assert_eq!(agent(&["type"])["default"], "Declarative");
    assert_eq!(agent(&["declarative", "runtime"])["default"], "go");
    assert_eq!(
        agent(&["declarative", "runtime"])["enum"],
        json!(["python", "go"])
    );
    assert_eq!(agent(&["declarative", "tools"])["maxItems"], 20);
    assert_eq!(agent(&["allowedNamespaces", "from"])["default"], "Same");
    assert_eq!(
        agent(&["skills", "gitRefs", "[]", "ref"])["default"],
        "main"
    );
    assert_eq!(agent(&["skills", "refs"])["maxItems"], 20);
    let compaction = ["declarative", "context", "compaction"];
    let interval = agent(&[&compaction[..], &["compactionInterval"]].concat());
    assert_eq!(
        (&interval["default"], &interval["minimum"]),
        (&json!(5), &json!(1.0))
    );
    let tool = ["declarative", "tools", "[]", "mcpServer"];
    assert_eq!(agent(&[&tool[..], &["toolNames"]].concat())["maxItems"], 50);
    assert_eq!(
        agent(&tool)["x-kubernetes-validations"]
            .as_array()
            .expect("a rule")
            .len(),
        1
    );
    let model = |path: &[&str]| schema("modelconfigs.kagent.dev", &[&["spec"], path].concat());
    assert_eq!(model(&["provider"])["default"], "OpenAI");
    assert_eq!(
        model(&["provider"])["enum"]
            .as_array()
            .expect("words")
            .len(),
        10
    );
    assert_eq!(
        model(&[])["x-kubernetes-validations"]
            .as_array()
            .expect("rules")
            .len(),
        17
    );
    assert_eq!(model(&["foundry", "apiVersion"])["default"], "2024-10-21");
    let server = |path: &[&str]| schema("remotemcpservers.kagent.dev", &[&["spec"], path].concat());
    assert_eq!(server(&["protocol"])["default"], "STREAMABLE_HTTP");
    assert_eq!(server(&["timeout"])["default"], "30s");
    assert_eq!(server(&["terminateOnClose"])["default"], true);
    assert_eq!(server(&[])["required"], json!(["description", "url"]));
}

#[expect(clippy::needless_pass_by_value, reason = "a literal is given")]
fn agent(spec: Value) -> Value {
    json!({"apiVersion": "kagent.dev/v1alpha2", "kind": "Agent", "metadata": {"name": "a"}, "spec": spec})
}

#[expect(clippy::needless_pass_by_value, reason = "a literal is given")]
fn model(spec: Value) -> Value {
    let metadata = json!({"name": "m"});
    json!({"apiVersion": "kagent.dev/v1alpha2", "kind": "ModelConfig", "metadata": metadata, "spec": spec})
}

#[expect(clippy::needless_pass_by_value, reason = "a literal is given")]
fn server(spec: Value) -> Value {
    let metadata = json!({"name": "s"});
    json!({"apiVersion": "kagent.dev/v1alpha2", "kind": "RemoteMCPServer", "metadata": metadata, "spec": spec})
}

/// What an API server refuses, and a part of what it says.
fn refused() -> Vec<(Value, &'static str)> {
    let tool =
        |tool: Value| agent(json!({"declarative": {"systemMessage": "hi", "tools": [tool]}}));
    vec![
        (
            agent(json!({"type": "BYO", "declarative": {}})),
            "byo must be specified",
        ),
        (agent(json!({"type": "Other", "declarative": {}})), "Other"),
        (
            agent(
                json!({"declarative": {"systemMessage": "a", "systemMessageFrom":
                {"type": "Secret", "name": "s", "key": "k"}}}),
            ),
            "mutually exclusive",
        ),
        (
            tool(json!({"type": "McpServer"})),
            "type.mcpServer must be specified",
        ),
        (
            tool(json!({"type": "Agent", "mcpServer": {"name": "x"}})),
            "type.mcpServer must be nil",
        ),
        (
            tool(json!({"type": "McpServer", "isolateSessions": true, "mcpServer": {"name": "x"}})),
            "isolateSessions",
        ),
        (
            tool(json!({"type": "McpServer", "mcpServer":
                {"name": "x", "toolNames": ["a"], "requireApproval": ["b"]}})),
            "must also appear in toolNames",
        ),
        (
            agent(json!({"declarative": {"deployment":
                {"serviceAccountName": "a", "serviceAccountConfig": {}}}})),
            "mutually exclusive",
        ),
        (
            agent(json!({"declarative": {}, "skills": {}})),
            "at least one of refs",
        ),
        (
            agent(json!({"declarative": {}, "allowedNamespaces": {"from": "Selector"}})),
            "selector must be specified",
        ),
        (
            model(json!({"model": "m", "ollama": {}})),
            "provider.ollama must be nil",
        ),
        (
            model(json!({"model": "m", "apiKeySecretKey": "k"})),
            "apiKeySecret must be set",
        ),
        (
            model(json!({"model": "m", "apiKeySecret": "s"})),
            "apiKeySecretKey must be set",
        ),
        (
            model(json!({"model": "m", "provider": "Gemini", "apiKeyPassthrough": true})),
            "must be false if provider is Gemini",
        ),
        (
            model(json!({"model": "m", "openAI": {"maxTokens": 1, "maxCompletionTokens": 1}})),
            "mutually exclusive",
        ),
        (
            model(json!({"model": "m", "provider": "Foundry", "foundry": {"deployment": "d"}})),
            "endpoint or foundry.endpointFrom is required",
        ),
        (
            model(json!({"model": "m", "tls": {"caCertSecretRef": "s"}})),
            "requires caCertSecretKey",
        ),
        (
            model(json!({"model": "m", "tls": {"disableSystemCAs": true}})),
            "trust-nothing",
        ),
        (server(json!({"description": "d", "url": ""})), "url"),
        (
            server(json!({"description": "d", "url": "http://x", "tls": {"disableVerify": true}})),
            "tls may not be set",
        ),
        (
            server(
                json!({"description": "d", "url": "https://x", "allowedNamespaces": {"from": "All"},
                "tls": {"caCertSecretRef": "s", "caCertSecretKey": "k"}}),
            ),
            "lets in other namespaces",
        ),
    ]
}

pub(crate) async fn a_server_refuses_what_makes_no_sense_and_fills_in_the_rest(bed: &Bed) {
    for (object, wanted) in refused() {
        let refusal = bed.try_apply(&object).await.expect_err(&object.to_string());
        assert!(refusal.to_string().contains(wanted), "{object}\n{refusal}");
    }
    let minimal = agent(json!({"declarative": {"systemMessage": "hi"}}));
    let made = bed.try_apply(&minimal).await.expect("an agent");
    assert_eq!(made.data["spec"]["type"], "Declarative");
    assert_eq!(made.data["spec"]["declarative"]["runtime"], "go");
    let number = agent(json!({"declarative": {"systemMessage": "hi", "deployment":
        {"resources": {"limits": {"cpu": 2}}}}}));
    bed.try_apply(&number)
        .await
        .expect("quantities may be numbers");
    let read = bed
        .api::<evenkeel_agent_operator::api::Agent>()
        .get("a")
        .await
        .expect("an agent");
    let deployment = read
        .spec
        .declarative
        .and_then(|it| it.deployment)
        .expect("a deployment");
    let limits = deployment
        .shared
        .resources
        .and_then(|it| it.limits)
        .expect("limits");
    assert_eq!(limits["cpu"].0, "2");
}

#[tokio::test(start_paused = true)]
async fn a_simulated_server_refuses_what_makes_no_sense_and_fills_in_the_rest() {
    a_server_refuses_what_makes_no_sense_and_fills_in_the_rest(&Bed::quick().await).await;
}
