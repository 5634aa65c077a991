//! `{{ns}}` and `{{reply:/json/pointer}}` in targets and bodies.

use std::collections::HashMap;

use serde_json::Value;

/// What the placeholders stand for.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) namespace: String,
    pub(super) replies: HashMap<String, Value>,
}

impl Values {
    /// Replaces placeholders in text.
    pub(super) fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else {
                break;
            };
            out.push_str(before);
            match self.lookup(name) {
                Value::String(text) => out.push_str(&text),
                other => out.push_str(&other.to_string()),
            }
            rest = after;
        }
        out + rest
    }

    /// Replaces placeholders in every string of a value, keys included. A string that is one
    /// placeholder and nothing else becomes the value that it stands for, whatever its type.
    pub(super) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match whole_placeholder(text) {
                Some(name) => self.lookup(name),
                None => Value::String(self.text(text)),
            },
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, item)| (self.text(key), self.value(item)))
                .collect(),
            other => other.clone(),
        }
    }

    fn lookup(&self, name: &str) -> Value {
        if name == "ns" {
            return Value::String(self.namespace.clone());
        }
        let (reply, pointer) = name.split_once(':').unwrap_or((name, ""));
        let reply = self.replies.get(reply);
        reply
            .and_then(|value| value.pointer(pointer))
            .cloned()
            .unwrap_or(Value::Null)
    }
}

fn whole_placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix("{{")?.strip_suffix("}}")?;
    (!name.contains("{{")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn placeholders_are_replaced_in_text_and_values() {
        let replies = [(
            "a".to_owned(),
            json!({"metadata": {"uid": "u1", "generation": 2}}),
        )];
        let values = Values {
            namespace: "n".into(),
            replies: replies.into(),
        };
        assert_eq!(values.text("/x/{{ns}}/{{a:/metadata/uid}}"), "/x/n/u1");
        let body = json!({"g": "{{a:/metadata/generation}}", "m": "{{a:/metadata}}"});
        let wanted = json!({"g": 2, "m": {"uid": "u1", "generation": 2}});
        assert_eq!(values.value(&body), wanted);
    }
}
