//! The text of a pod template that its hash is taken of.

use serde_json::Value;

/// Keys are sorted, so that equal templates have equal texts.
pub(super) fn of(template: &Value) -> String {
    let mut text = String::new();
    write(&mut text, template);
    text
}

fn write(text: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in entries {
                text.push_str(key);
                text.push(':');
                write(text, value);
                text.push(' ');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            items.iter().for_each(|item| write(text, item));
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}
