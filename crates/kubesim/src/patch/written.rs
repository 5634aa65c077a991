//! The text of a patched object, as replies show it that find fault with it.

use serde_json::Value;

/// The order in which the real server's type of metadata writes its fields.
const METADATA: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// The object as JSON: its fields by name, those of its metadata in the order of their type.
pub(crate) fn written(object: &Value) -> String {
    let fields = object.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| match name.as_str() {
        "metadata" => member(name, &metadata(value)),
        _ => member(name, &value.to_string()),
    });
    braced(fields)
}

fn metadata(value: &Value) -> String {
    let Some(fields) = value.as_object() else {
        return value.to_string();
    };
    let mut fields: Vec<_> = fields.iter().collect();
    let place = |name: &str| METADATA.iter().position(|known| *known == name);
    fields.sort_by_key(|(name, _)| place(name).unwrap_or(METADATA.len()));
    braced(
        fields
            .into_iter()
            .map(|(name, value)| member(name, &value.to_string())),
    )
}

fn member(name: &str, json: &str) -> String {
    format!("{}:{json}", Value::from(name))
}

fn braced(members: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_keeps_the_order_of_its_type() {
        let object = json!({
            "metadata": {"uid": "u", "labels": {"b": "1", "a": "2"}, "name": "n"},
            "kind": "K",
        });
        let text = r#"{"kind":"K","metadata":{"name":"n","uid":"u","labels":{"a":"2","b":"1"}}}"#;
        assert_eq!(written(&object), text);
    }
}
