//! Databases that the tests speak of.

use evenkeel_database_operator::Database;
use serde_json::{Value, json};

/// A Database with this specification; version and storage have defaults.
pub(crate) fn database(spec: Value) -> Database {
    let mut whole = json!({"version": "17.2", "storage": {"size": "10Gi"}});
    merge(&mut whole, spec);
    serde_json::from_value(json!({
        "apiVersion": "evenkeel.io/v1",
        "kind": "Database",
        "metadata": {"name": "orders", "namespace": "shop", "uid": "11111111-2222-3333-4444-555555555555"},
        "spec": whole,
    }))
    .unwrap()
}

/// The same with a request for a new password.
pub(crate) fn asking_for_a_password(mut database: Database, request: &str) -> Database {
    let annotations = database.metadata.annotations.get_or_insert_default();
    annotations.insert("evenkeel.io/rotate-password".to_owned(), request.to_owned());
    database
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// One with everything in it.
pub(crate) fn full() -> Database {
    database(json!({
        "image": {"name": "registry.example/postgres@sha256:0123", "pullPolicy": "IfNotPresent", "pullSecrets": [{"name": "registry"}], "runAsUser": 70},
        "replicas": 3,
        "storage": {"size": "50Gi", "class": "fast", "accessMode": "ReadWriteOncePod"},
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "settings": {"shared_buffers": "512MB", "log_line_prefix": "it's \\ %m"},
        "port": 6432,
        "database": "orders",
        "owner": "keeper",
        "passwordSecretRef": {"name": "my-password"},
        "service": {"type": "LoadBalancer", "annotations": {"example.com/internal": "true"}},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "databases", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}}},
        "podLabels": {"team": "shop"},
        "podAnnotations": {"example.com/scrape": "true"},
        "probes": {"liveness": {"periodSeconds": 30}, "readiness": {"failureThreshold": 1}, "startup": {"initialDelaySeconds": 2, "timeoutSeconds": 9}},
        "disruptionBudget": {"maxUnavailable": 2},
        "deletionPolicy": "Delete",
    }))
}
