//! Values of Secrets do not belong on screens or in the logs of pipelines.

use evenkeel_manifest::Identity;
use evenkeel_model::Checksum;
use serde_json::Value;

/// As much of a hash as tells two values apart.
const SHORT: usize = 8;

/// An object and what it is called.
type Named = (Identity, Value);

/// Both sides with the values of Secrets replaced by hashes.
pub(super) fn pair(before: Option<Named>, after: Option<Named>) -> (Option<Named>, Option<Named>) {
    (before.map(masked), after.map(masked))
}

fn masked((id, mut object): Named) -> Named {
    if id.group.is_empty() && id.kind == "Secret" {
        for field in ["data", "stringData"] {
            if let Some(Value::Object(values)) = object.get_mut(field) {
                values.values_mut().for_each(hide);
            }
        }
    }
    (id, object)
}

fn hide(value: &mut Value) {
    let hash = Checksum::of(value.to_string());
    *value = format!("(hidden, {})", &hash.as_str()[..SHORT]).into();
}

#[cfg(test)]
mod tests {
    use evenkeel_manifest::{Limits, parse};

    use super::*;

    fn shown(text: &str) -> String {
        let document = parse(text, Limits::NONE).unwrap().remove(0);
        masked((document.id, Value::Object(document.object)))
            .1
            .to_string()
    }

    #[test]
    fn secrets_are_told_apart_but_not_told() {
        let secret = |value| {
            shown(&format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData: {{password: {value}}}"
            ))
        };
        assert!(!secret("hunter2").contains("hunter2"));
        assert_ne!(secret("hunter2"), secret("hunter3"));
        assert_eq!(secret("hunter2"), secret("hunter2"));
    }

    #[test]
    fn other_kinds_are_shown() {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {who: me}";
        assert!(shown(text).contains("me"));
    }
}
