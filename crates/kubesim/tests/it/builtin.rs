//! Built-in kinds through the API: the recorded cases of `data/objects.json`, and what takes
//! more than one object to see.

use std::collections::BTreeSet;

use evenkeel_kubesim::Cluster;
use serde_json::{Value, json};

use crate::client::{get, merge, post, put};

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn recorded() -> Vec<Value> {
    serde_json::from_str(include_str!("../../data/objects.json")).expect("recorded cases")
}

fn folder(case: &Value) -> String {
    let text = |name: &str| case[name].as_str().unwrap_or_default();
    let root = match text("group") {
        "" => format!("/api/{}", text("version")),
        group => format!("/apis/{group}/{}", text("version")),
    };
    let plural = match text("kind") {
        "Ingress" => "ingresses".to_owned(),
        "IngressClass" => "ingressclasses".to_owned(),
        "NetworkPolicy" => "networkpolicies".to_owned(),
        "StorageClass" => "storageclasses".to_owned(),
        "PriorityClass" => "priorityclasses".to_owned(),
        "RuntimeClass" => "runtimeclasses".to_owned(),
        kind => format!("{}s", kind.to_lowercase()),
    };
    match case["namespaced"] == true {
        true => format!("{root}/namespaces/default/{plural}"),
        false => format!("{root}/{plural}"),
    }
}

/// Causes of a refusal, in the order that a set has.
fn causes(reply: &Value) -> BTreeSet<(String, String, String)> {
    let list = reply["details"]["causes"].as_array().into_iter().flatten();
    list.map(|cause| {
        let text = |name: &str| cause[name].as_str().unwrap_or_default().to_owned();
        let message = text("message");
        let first = message.lines().next().unwrap_or_default().to_owned();
        (text("field"), text("reason"), first)
    })
    .collect()
}

fn expected_causes(case: &Value) -> BTreeSet<(String, String, String)> {
    let list = case["reply"]["causes"].as_array().into_iter().flatten();
    list.map(|cause| {
        let text = |index: usize| cause[index].as_str().unwrap_or_default().to_owned();
        let first = text(2).lines().next().unwrap_or_default().to_owned();
        (text(0), text(1), first)
    })
    .collect()
}

/// Cases that are answered otherwise; `src/builtin/recorded.rs` says why.
const GAPS: [&str; 4] = [
    "Pod spec.volumes [{\"name\": \"v\", \"projected\"",
    "Pod spec.priorityClassName \"A\"",
    "CustomResourceDefinition spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size.type",
    "CustomResourceDefinition spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.o {\"type\": \"string\", \"pattern\"",
];

/// The rules themselves are the matter of the unit tests; here it is how they reach clients.
#[tokio::test]
async fn refusals_reach_the_client_as_recorded() {
    let cluster = Cluster::new();
    let mut wrong = Vec::new();
    for case in recorded().iter().filter(|case| case.get("old").is_none()) {
        let path = format!("{}?dryRun=All", folder(case));
        let answer = post(&cluster, &path, &case["given"]).await;
        let name = case["name"].as_str().unwrap_or_default();
        let is_gap = GAPS.iter().any(|gap| name.starts_with(gap));
        if is_alike(case, answer.code, &answer.json()) == is_gap {
            wrong.push(format!(
                "{name}\n  real {}\n  ours {}",
                case["reply"], answer.text
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

/// The message is compared where its order is certain.
fn is_alike(case: &Value, code: u16, reply: &Value) -> bool {
    let expected = expected_causes(case);
    let message = &case["reply"]["message"];
    let same_words = message.is_null() || expected.len() > 1 || &reply["message"] == message;
    let wanted = case["reply"]["code"].as_u64().unwrap_or(201);
    u64::from(code) == wanted && causes(reply) == expected && same_words
}

#[tokio::test]
async fn services_get_addresses_and_ports_that_nobody_else_has() {
    let cluster = Cluster::new();
    let mut seen = BTreeSet::new();
    for index in 0..50 {
        let name = format!("s{index}");
        let spec = json!({"type": "NodePort", "ports": [{"port": 80}]});
        let service = json!({"metadata": {"name": name}, "spec": spec});
        let made = post(&cluster, SERVICES, &service).await.expect(201);
        let address = made["spec"]["clusterIP"]
            .as_str()
            .expect("an address")
            .to_owned();
        assert!(address.starts_with("10."), "{address}");
        assert!(seen.insert(address), "an address twice");
        let port = made["spec"]["ports"][0]["nodePort"].to_string();
        assert!(seen.insert(port), "a port twice");
    }
}

#[tokio::test]
async fn a_service_keeps_its_address_when_it_changes() {
    let cluster = Cluster::new();
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let made = post(&cluster, SERVICES, &service).await.expect(201);
    let path = format!("{SERVICES}/s");
    let mut change = service.clone();
    change["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
    change["spec"]["type"] = "NodePort".into();
    let changed = put(&cluster, &path, &change).await.expect(200);
    assert_eq!(changed["spec"]["clusterIP"], made["spec"]["clusterIP"]);
    assert!(changed["spec"]["ports"][0]["nodePort"].is_u64());
    let back = merge(&cluster, &path, &json!({"spec": {"type": "ClusterIP"}}))
        .await
        .expect(200);
    assert_eq!(back["spec"]["ports"][0].get("nodePort"), None);
}

#[tokio::test]
async fn the_generation_counts_changes_of_the_spec_only() {
    let cluster = Cluster::new();
    let folder = "/apis/apps/v1/namespaces/default/deployments";
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let deployment = json!({"metadata": {"name": "d"}, "spec": spec});
    post(&cluster, folder, &deployment).await.expect(201);
    let path = format!("{folder}/d");
    let steps = [
        (json!({"metadata": {"labels": {"x": "y"}}}), 1),
        (json!({"status": {"replicas": 3}}), 1),
        (json!({"spec": {"replicas": 3}}), 2),
        (json!({"spec": {"replicas": 3}}), 2),
    ];
    for (patch, generation) in steps {
        let changed = merge(&cluster, &path, &patch).await.expect(200);
        assert_eq!(
            changed["metadata"]["generation"], generation,
            "after {patch}"
        );
    }
    let status = json!({"status": {"replicas": 3}, "spec": {"replicas": 9}});
    let written = merge(&cluster, &format!("{path}/status"), &status)
        .await
        .expect(200);
    assert_eq!(written["status"]["replicas"], 3);
    assert_eq!(written["spec"]["replicas"], 3);
    assert_eq!(
        get(&cluster, &path).await.expect(200)["metadata"]["generation"],
        2
    );
}
