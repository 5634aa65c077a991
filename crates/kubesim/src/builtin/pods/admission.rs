//! What the server's admission plugins, on by default, add to a new pod.

use serde_json::{Value, json};

use super::super::fill;
use crate::strategy::Surroundings;

pub(super) fn admit(spec: &mut Value, around: &dyn Surroundings) {
    if spec["terminationGracePeriodSeconds"]
        .as_i64()
        .is_some_and(|seconds| seconds < 0)
    {
        spec["terminationGracePeriodSeconds"] = 1.into();
    }
    prioritise(spec, around);
    for trouble in ["not-ready", "unreachable"] {
        tolerate(spec, &format!("node.kubernetes.io/{trouble}"));
    }
}

/// The priority comes from the class that the pod names, or from the default one.
fn prioritise(spec: &mut Value, around: &dyn Surroundings) {
    let name = fill::text(spec, "priorityClassName").to_owned();
    let system = match name.as_str() {
        "system-node-critical" => Some(json!({"value": 2_000_001_000})),
        "system-cluster-critical" => Some(json!({"value": 2_000_000_000})),
        _ => None,
    };
    let classes = around.objects("scheduling.k8s.io", "priorityclasses");
    let found = classes.iter().find(|class| match name.as_str() {
        "" => class["globalDefault"] == true,
        name => class["metadata"]["name"] == name,
    });
    let class = system.or_else(|| found.map(|class| (**class).clone()));
    let class = class.unwrap_or_else(|| json!({"value": 0}));
    if let (true, Some(default)) = (name.is_empty(), class["metadata"]["name"].as_str()) {
        spec["priorityClassName"] = default.into();
    }
    spec["priority"] = class["value"].clone();
    let policy = class["preemptionPolicy"]
        .as_str()
        .unwrap_or("PreemptLowerPriority");
    fill::absent(spec, "preemptionPolicy", policy);
}

/// Pods stay on a troubled node for five minutes, unless they say otherwise.
fn tolerate(spec: &mut Value, trouble: &str) {
    fill::absent(spec, "tolerations", json!([]));
    let Some(list) = spec["tolerations"].as_array_mut() else {
        return;
    };
    let covers = |toleration: &Value| {
        let key = fill::text(toleration, "key");
        (key == trouble || key.is_empty())
            && matches!(fill::text(toleration, "effect"), "" | "NoExecute")
    };
    if !list.iter().any(covers) {
        list.push(json!({
            "key": trouble,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        }));
    }
}
