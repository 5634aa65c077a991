//! Kubernetes objects as Go's types write them: what is empty is left out where the Go type says
//! `omitempty`, some structs are always there, and quantities have one form.

use serde_json::{Map, Value, json};

use super::quantity;

/// Fields whose Go type is `bool`, not a pointer to one.
const PLAIN_FLAGS: [&str; 8] = [
    "readOnly",
    "stdin",
    "stdinOnce",
    "tty",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "paused",
];
/// Fields whose Go type is a number, not a pointer to one.
const PLAIN_NUMBERS: [&str; 6] = [
    "hostPort",
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
];
/// Fields whose Go type is a map.
const MAPS: [&str; 8] = [
    "labels",
    "annotations",
    "nodeSelector",
    "matchLabels",
    "limits",
    "requests",
    "data",
    "binaryData",
];
/// Texts that are written even when they are empty.
const KEPT_TEXTS: [&str; 2] = ["key", "uid"];

/// Brings what our types wrote into the form that Go's types write.
pub(crate) fn as_go(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(fields_as_go(fields)),
        Value::Array(items) => items.into_iter().map(as_go).collect(),
        other => other,
    }
}

fn fields_as_go(fields: Map<String, Value>) -> Map<String, Value> {
    let kept = fields
        .into_iter()
        .filter(|(name, value)| !is_omitted(name, value));
    kept.map(|(name, value)| {
        let value = field_as_go(&name, value);
        (name, value)
    })
    .collect()
}

fn is_omitted(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(set) => !set && PLAIN_FLAGS.contains(&name),
        Value::Number(number) => number.as_i64() == Some(0) && PLAIN_NUMBERS.contains(&name),
        Value::String(text) => text.is_empty() && !KEPT_TEXTS.contains(&name),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty() && MAPS.contains(&name),
    }
}

fn field_as_go(name: &str, value: Value) -> Value {
    match (name, value) {
        ("limits" | "requests", Value::Object(amounts)) => amounts
            .into_iter()
            .map(|(what, much)| (what, amount(much)))
            .collect(),
        // Text of people, in which nothing is a field.
        ("labels" | "annotations" | "data" | "stringData", value) => value,
        ("sizeLimit" | "divisor", value) => amount(value),
        ("containers" | "initContainers", Value::Array(containers)) => containers
            .into_iter()
            .map(|each| with(as_go(each), "resources", json!({})))
            .collect(),
        ("resourceFieldRef", value) => with(as_go(value), "divisor", json!("0")),
        (_, value) => as_go(value),
    }
}

fn amount(value: Value) -> Value {
    match value {
        Value::String(text) => quantity::canonical(&text).into(),
        Value::Number(number) => quantity::canonical(&number.to_string()).into(),
        other => other,
    }
}

/// A struct that is not a pointer is written even when nobody set it.
fn with(mut value: Value, name: &str, default: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.entry(name).or_insert(default);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_values_go_where_go_omits_them() {
        let given = json!({
            "env": [{"name": "A", "value": ""}], "tolerations": [], "nodeSelector": {},
            "emptyDir": {}, "readOnly": false, "privileged": false, "hostPort": 0, "runAsUser": 0,
            "secretKeyRef": {"name": "", "key": ""}, "labels": {"kept": ""},
        });
        let wanted = json!({
            "env": [{"name": "A"}], "emptyDir": {}, "privileged": false, "runAsUser": 0,
            "secretKeyRef": {"key": ""}, "labels": {"kept": ""},
        });
        assert_eq!(as_go(given), wanted);
    }

    #[test]
    fn containers_always_have_resources_in_canonical_form() {
        let given = json!({"containers": [
            {"name": "a"}, {"name": "b", "resources": {"limits": {"cpu": "3000m", "memory": 1024}}},
        ]});
        let wanted = json!({"containers": [
            {"name": "a", "resources": {}},
            {"name": "b", "resources": {"limits": {"cpu": "3", "memory": "1024"}}},
        ]});
        assert_eq!(as_go(given), wanted);
    }
}
