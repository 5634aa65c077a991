//! What is applied.

use evenkeel_kubeset::Manifests;
use serde_json::{Value, json};

/// A namespace with `count` objects, half of them deployments, half config maps.
pub(crate) fn mixed(namespace: &str, count: usize) -> Vec<Value> {
    let own = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let many = (0..count).map(|at| match at % 2 {
        0 => deployment(namespace, at),
        _ => config_map(namespace, at),
    });
    std::iter::once(own).chain(many).collect()
}

/// The objects as somebody would write them down.
pub(crate) fn manifests(objects: &[Value]) -> anyhow::Result<Manifests> {
    let documents: Vec<_> = objects.iter().map(Value::to_string).collect();
    Ok(Manifests::parse(&documents.join("\n---\n"))?)
}

pub(crate) fn config_map(namespace: &str, at: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("map-{at}"), "namespace": namespace},
        "data": {"value": "1", "text": "some hundred bytes of settings ".repeat(8)}})
}

fn deployment(namespace: &str, at: usize) -> Value {
    let name = format!("web-{at}");
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": "main:1", "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]}}}})
}
