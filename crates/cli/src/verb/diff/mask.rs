//! Values of Secrets do not belong on screens or in the logs of pipelines.

use evenkeel_model::{Checksum, ObjectKey};
use serde_json::Value;

/// As much of a hash as tells two values apart.
const SHORT: usize = 8;

/// The object; if it is a Secret, with its values replaced by hashes.
pub(super) fn masked(key: &ObjectKey, mut object: Value) -> Value {
    if key.group.is_empty() && key.kind == "Secret" {
        for field in ["data", "stringData"] {
            if let Some(Value::Object(values)) = object.get_mut(field) {
                values.values_mut().for_each(hide);
            }
        }
    }
    object
}

fn hide(value: &mut Value) {
    let hash = Checksum::of(value.to_string());
    *value = format!("(hidden, {})", &hash.as_str()[..SHORT]).into();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(kind: &str, value: &str) -> String {
        let key = ObjectKey {
            group: String::new(),
            kind: kind.to_owned(),
            namespace: None,
            name: "a".to_owned(),
        };
        masked(&key, json!({ "stringData": { "password": value } })).to_string()
    }

    #[test]
    fn secrets_are_told_apart_but_not_told() {
        assert!(!shown("Secret", "hunter2").contains("hunter2"));
        assert_ne!(shown("Secret", "hunter2"), shown("Secret", "hunter3"));
        assert_eq!(shown("Secret", "hunter2"), shown("Secret", "hunter2"));
    }

    #[test]
    fn other_kinds_are_shown() {
        assert!(shown("ConfigMap", "hunter2").contains("hunter2"));
    }
}
