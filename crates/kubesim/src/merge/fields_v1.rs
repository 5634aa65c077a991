//! The notation of field sets inside objects: `{"f:data":{".":{},"f:x":{}}}`.
//!
//! A field without fields beneath it is in the set; `.` says so of one that has some.

use serde_json::{Map, Value};

use super::path::{Step, StepError};
use super::set::{FieldSet, Node};

/// Why a value is not a field set.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FieldsError {
    #[error("expected an object of fields, got {0}")]
    NotAnObject(Value),
    #[error("reading the key of a field")]
    Step(#[from] StepError),
}

/// Reads a field set; absent and `null` are empty.
pub(crate) fn decode(fields: Option<&Value>) -> Result<FieldSet, FieldsError> {
    fields.map_or_else(
        || Ok(FieldSet::default()),
        |fields| Ok(decode_level(fields)?.0),
    )
}

/// The set beneath a field, and whether the field itself is in the set.
fn decode_level(fields: &Value) -> Result<(FieldSet, bool), FieldsError> {
    let fields = match fields {
        Value::Null => return Ok((FieldSet::default(), true)),
        Value::Object(fields) => fields,
        other => return Err(FieldsError::NotAnObject(other.clone())),
    };
    let mut below = FieldSet::default();
    for (key, value) in fields.iter().filter(|(key, _)| *key != ".") {
        match Step::parse(key) {
            Ok(step) => {
                let (beneath, member) = decode_level(value)?;
                below.insert(step, member, beneath);
            }
            Err(StepError::Unknown(_)) => {}
            Err(malformed) => return Err(malformed.into()),
        }
    }
    let member = below.is_empty() || fields.contains_key(".");
    Ok((below, member))
}

/// Writes a field set.
pub(crate) fn encode(set: &FieldSet) -> Value {
    Value::Object(
        set.nodes()
            .iter()
            .map(|node| (node.step.encode(), encode_node(node)))
            .collect(),
    )
}

fn encode_node(node: &Node) -> Value {
    let mut value = encode(&node.below);
    if let Value::Object(fields) = &mut value
        && node.member
        && !fields.is_empty()
    {
        fields.insert(".".to_owned(), Value::Object(Map::new()));
    }
    value
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn round(value: &Value) -> Value {
        encode(&decode(Some(value)).unwrap())
    }

    #[test]
    fn real_sets_survive_a_round_trip() {
        let fields = json!({
            "f:metadata": {"f:finalizers": {".": {}, "v:\"ex.io/f\"": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}},
            "f:data": {}
        });
        assert_eq!(round(&fields), fields);
    }

    #[test]
    fn steps_of_later_versions_are_dropped() {
        assert_eq!(
            round(&json!({"x:new": {}, "f:a": {"x:new": {}}})),
            json!({"f:a": {}})
        );
    }

    #[test]
    fn malformed_sets_are_refused() {
        for fields in [
            json!("f:a"),
            json!({"a": {}}),
            json!({"f:a": 1}),
            json!({"f:a": {"k:x": {}}}),
        ] {
            assert!(decode(Some(&fields)).is_err(), "{fields}");
        }
    }

    #[test]
    fn nothing_is_an_empty_set() {
        for fields in [None, Some(json!(null)), Some(json!({}))] {
            assert!(decode(fields.as_ref()).unwrap().is_empty());
        }
    }
}
