//! Merge patch (RFC 7386): objects merge field by field, `null` removes, the rest is replaced.

use serde_json::{Map, Value};

use super::PatchError;

/// An object to lay over the live one.
#[derive(Debug, Clone, PartialEq)]
pub struct MergePatch(Map<String, Value>);

impl MergePatch {
    /// Reads the body of a request.
    pub fn decode(body: &[u8]) -> Result<Self, PatchError> {
        match serde_json::from_slice(body).map_err(|error| PatchError::syntax(&error))? {
            Value::Object(patch) => Ok(Self(patch)),
            other => Err(PatchError::type_of(&other, "map[string]interface {}")),
        }
    }

    /// The live object with the patch laid over it.
    pub fn apply(&self, live: &Value) -> Value {
        let mut new = live.clone();
        merge(&mut new, &self.0);
        new
    }
}

/// What a patch says of an absent field is taken without its nulls, at every level.
fn merge(target: &mut Value, patch: &Map<String, Value>) {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(fields) = target.as_object_mut() else {
        return;
    };
    for (name, value) in patch {
        match value {
            Value::Null => {
                fields.remove(name);
            }
            Value::Object(patch) => {
                merge(
                    fields
                        .entry(name)
                        .or_insert_with(|| Value::Object(Map::new())),
                    patch,
                );
            }
            value => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(live: &Value, patch: &Value) -> Value {
        MergePatch::decode(patch.to_string().as_bytes())
            .unwrap()
            .apply(live)
    }

    #[test]
    fn null_removes_and_objects_merge() {
        let live = json!({"a": {"b": 1, "c": 2}, "d": [1, 2]});
        let patch = json!({"a": {"b": null, "e": {"f": null, "g": 3}}, "d": [3]});
        assert_eq!(
            patched(&live, &patch),
            json!({"a": {"c": 2, "e": {"g": 3}}, "d": [3]})
        );
    }

    #[test]
    fn an_object_replaces_what_is_none() {
        assert_eq!(
            patched(&json!({"a": [1]}), &json!({"a": {"b": 1}})),
            json!({"a": {"b": 1}})
        );
    }

    #[test]
    fn only_objects_are_patches() {
        for body in ["", "null", "[]", "\"a\"", "{", "{} x"] {
            assert!(matches!(
                MergePatch::decode(body.as_bytes()),
                Err(PatchError::Undecodable(_))
            ));
        }
    }
}
