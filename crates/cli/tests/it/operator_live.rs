//! `evenkeel operator manifests` and `evenkeel operator diff`, on clusters.

use std::fs;
use std::path::Path;
use std::process::{Child, Output};
use std::time::Duration;

use evenkeel_testkit::{Cluster, on_each_cluster};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::running::evenkeel;

fn run(arguments: &[&str]) -> Output {
    evenkeel(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The documents that a command prints.
fn printed(arguments: &[&str]) -> Vec<Value> {
    let output = run(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    documents(&text(&output.stdout))
}

fn documents(text: &str) -> Vec<Value> {
    let documents = text.split("---\n").filter(|text| !text.trim().is_empty());
    documents
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect()
}

fn kinds(documents: &[Value]) -> Vec<&str> {
    documents
        .iter()
        .map(|document| document["kind"].as_str().unwrap())
        .collect()
}

fn of_kind<'a>(documents: &'a [Value], kind: &str) -> &'a Value {
    let found = documents.iter().find(|document| document["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}"))
}

async fn apply(client: &Client, document: &Value) {
    let word = |field: &str| document[field].as_str().unwrap().to_owned();
    let (api_version, kind) = (word("apiVersion"), word("kind"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
    let api: Api<DynamicObject> = match document["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let name = document["metadata"]["name"].as_str().unwrap();
    let how = PatchParams::apply("person").force();
    for _ in 0..100 {
        match api.patch(name, &how, &Patch::Apply(document)).await {
            Ok(_) => return,
            // A definition takes a moment until it is served.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => panic!("{kind} {name}: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{kind} {name} cannot be applied");
}

#[test]
fn the_manifests_hold_definitions_rights_and_the_operator() {
    let documents = printed(&[
        "operator",
        "manifests",
        "--namespace",
        "agents",
        "--image",
        "example.com/evenkeel:7",
        "--replicas",
        "3",
    ]);
    let wanted = [
        "CustomResourceDefinition",
        "CustomResourceDefinition",
        "CustomResourceDefinition",
        "CustomResourceDefinition",
        "Namespace",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "Deployment",
    ];
    assert_eq!(kinds(&documents), wanted);
    let deployment = of_kind(&documents, "Deployment");
    assert_eq!(deployment["metadata"]["namespace"], "agents");
    assert_eq!(deployment["spec"]["replicas"], 3);
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], "example.com/evenkeel:7");
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let account = &of_kind(&documents, "ServiceAccount")["metadata"]["name"];
    assert_eq!(&pod["serviceAccountName"], account);
    for binding in ["ClusterRoleBinding", "RoleBinding"] {
        let subject = &of_kind(&documents, binding)["subjects"][0];
        assert_eq!(
            (&subject["name"], &subject["namespace"]),
            (account, &json!("agents"))
        );
    }
    // It stands for a lease of its own namespace, where it has the right to.
    let arguments = pod["containers"][0]["args"].to_string();
    assert!(arguments.contains("agents/"), "{arguments}");
}

#[test]
fn the_rights_of_the_agent_operator_are_few_and_as_committed() {
    let role = of_kind(&printed(&["operator", "manifests"]), "ClusterRole").clone();
    let rules = role["rules"].as_array().unwrap();
    assert!(!role.to_string().contains('*'), "{role}");
    let may = |resource: &str, verb: &str| {
        let has = |rule: &Value, field: &str, word: &str| {
            let words = rule[field].as_array().unwrap();
            words.iter().any(|known| known == word)
        };
        let mut rules = rules.iter();
        rules.any(|rule| has(rule, "resources", resource) && has(rule, "verbs", verb))
    };
    assert!(
        may("deployments", "patch") && may("secrets", "list") && may("agents/status", "update")
    );
    for (resource, verb) in [
        ("agents", "delete"),
        ("agents", "patch"),
        ("modelconfigs", "update"),
        ("pods", "get"),
        ("namespaces", "create"),
        ("roles", "create"),
    ] {
        assert!(!may(resource, verb), "{verb} {resource}");
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/operator/agent-rights.yaml");
    let rights = run(&["operator", "rights", "--only", "agent"]);
    assert_eq!(
        fs::read_to_string(path).unwrap_or_default(),
        text(&rights.stdout),
        "run `evenkeel operator rights --only agent > deploy/operator/agent-rights.yaml`"
    );
}

/// The operator as a process of its own; ends with the test.
struct Operator(Child);

impl Operator {
    fn start(kubeconfig: &str) -> Self {
        let arguments = [
            "operator",
            "--only",
            "agent",
            "--no-lease",
            "--kubeconfig",
            kubeconfig,
        ];
        Self(evenkeel(&arguments).spawn().unwrap())
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An agent whose runtime the server fills in, and all that it refers to.
const BOT: &str = "\
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: NS}
stringData: {key: sk-1}
---
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: default-model-config, namespace: NS}
spec: {provider: OpenAI, model: gpt, apiKeySecret: keys, apiKeySecretKey: key}
---
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: bot, namespace: NS}
spec: {type: Declarative, declarative: {systemMessage: You help.}}
";

async fn generation(client: &Client, namespace: &str) -> Option<i64> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let deployment = deployments.get_opt("bot").await.unwrap()?;
    deployment.metadata.generation
}

async fn a_diff_says_what_would_change_and_changes_nothing(cluster: &Cluster) {
    let namespace = "operator-diff";
    let client = cluster.client().await;
    for document in printed(&["operator", "manifests", "--replicas", "0"]) {
        apply(&client, &document).await;
    }
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    apply(&client, &space).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.yaml");
    let bot = BOT.replace("NS", namespace);
    fs::write(&file, &bot).unwrap();
    let kubeconfig = cluster.kubeconfig().await;
    let kubeconfig = kubeconfig.to_str().unwrap();
    let diff = || {
        let file = file.to_str().unwrap();
        let output = run(&["operator", "diff", "-f", file, "--kubeconfig", kubeconfig]);
        let said = text(&output.stdout) + &text(&output.stderr);
        (output.status.code(), said)
    };

    let (code, said) = diff();
    assert_eq!(code, Some(3), "{said}");
    for kind in ["Secret", "ServiceAccount", "Deployment", "Service"] {
        assert!(
            said.contains(&format!("{kind} ")),
            "{kind} is missing in\n{said}"
        );
    }
    assert_eq!(
        generation(&client, namespace).await,
        None,
        "nothing is made"
    );

    for document in documents(&bot) {
        apply(&client, &document).await;
    }
    let _operator = Operator::start(kubeconfig);
    for _ in 0..600 {
        if diff().0 == Some(0) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(diff(), (Some(0), "no differences\n".to_owned()));

    let before = generation(&client, namespace).await;
    fs::write(&file, bot.replace("You help.", "You help more.")).unwrap();
    let (code, said) = diff();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("config-hash"), "{said}");
    assert!(
        !said.contains("You help more."),
        "what is in Secrets is not shown: {said}"
    );
    assert!(
        !said.contains("ServiceAccount"),
        "only what differs is shown: {said}"
    );
    assert_eq!(
        generation(&client, namespace).await,
        before,
        "nothing is written"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_shows_what_the_operator_would_do() {
    on_each_cluster(a_diff_says_what_would_change_and_changes_nothing).await;
}
