//! JSON patch (RFC 6902), with the real server's limits.

use json_patch::jsonptr::Pointer;
use json_patch::{AddOperation, PatchOperation, ReplaceOperation};
use serde_json::Value;

use super::PatchError;

const MAX_OPERATIONS: usize = 10_000;
/// How many bytes all copies of one patch may add: repeated copies would double an object.
const MAX_COPIED: usize = 3 << 20;
/// How deep an object may become; walks over objects recurse.
const MAX_DEPTH: usize = 100;

/// A list of operations.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPatch(Vec<Value>);

impl JsonPatch {
    /// Reads the body of a request. Operations are read when they are applied, since the server
    /// answers to a bad one as to one that does not fit.
    pub fn decode(body: &[u8]) -> Result<Self, PatchError> {
        let body = serde_json::from_slice(body).map_err(|error| PatchError::syntax(&error))?;
        let Value::Array(operations) = body else {
            return Err(PatchError::type_of(&body, "[]handlers.jsonPatchOp"));
        };
        if let Some(other) = operations.iter().find(|operation| !operation.is_object()) {
            return Err(PatchError::type_of(other, "handlers.jsonPatchOp"));
        }
        if operations.len() > MAX_OPERATIONS {
            return Err(PatchError::TooManyOperations {
                allowed: MAX_OPERATIONS,
                got: operations.len(),
            });
        }
        Ok(Self(operations))
    }

    /// The live object after all operations.
    pub fn apply(&self, live: &Value) -> Result<Value, PatchError> {
        let unfit = |why: &dyn std::fmt::Display| PatchError::Unprocessable(why.to_string());
        let mut new = live.clone();
        let mut copied = 0;
        for operation in &self.0 {
            let operation: PatchOperation =
                serde_json::from_value(operation.clone()).map_err(|error| unfit(&error))?;
            let Some(operation) = as_the_server_reads(operation, &new) else {
                continue;
            };
            copied += growth(&operation, &new).map_err(|why| unfit(&why))?;
            if copied > MAX_COPIED {
                return Err(unfit(&"the copies are too large"));
            }
            json_patch::patch_unsafe(&mut new, &[operation]).map_err(|error| unfit(&error))?;
        }
        Ok(new)
    }
}

/// What an object does not have counts as null there: a test for null holds, and what is replaced
/// is added.
fn as_the_server_reads(operation: PatchOperation, object: &Value) -> Option<PatchOperation> {
    match operation {
        PatchOperation::Test(test)
            if test.value.is_null() && is_absent_member(&test.path, object) =>
        {
            None
        }
        PatchOperation::Replace(replace) if is_absent_member(&replace.path, object) => {
            let ReplaceOperation { path, value } = replace;
            Some(PatchOperation::Add(AddOperation { path, value }))
        }
        other => Some(other),
    }
}

fn is_absent_member(path: &Pointer, object: &Value) -> bool {
    let Some((parent, name)) = path.split_back() else {
        return false;
    };
    let parent = parent.resolve(object).ok().and_then(Value::as_object);
    parent.is_some_and(|parent| !parent.contains_key(&*name.decoded()))
}

/// How many bytes an operation copies; refused if it would make the object too deep.
fn growth(operation: &PatchOperation, object: &Value) -> Result<usize, &'static str> {
    let (path, moved, copies) = match operation {
        PatchOperation::Add(add) => (&add.path, Some(&add.value), false),
        PatchOperation::Replace(replace) => (&replace.path, Some(&replace.value), false),
        PatchOperation::Move(from_to) => (&from_to.path, from_to.from.resolve(object).ok(), false),
        PatchOperation::Copy(from_to) => (&from_to.path, from_to.from.resolve(object).ok(), true),
        PatchOperation::Remove(_) | PatchOperation::Test(_) => return Ok(0),
    };
    let Some(value) = moved else { return Ok(0) };
    if Pointer::count(path) + depth(value) > MAX_DEPTH {
        return Err("the object would become too deep");
    }
    Ok(if copies { value.to_string().len() } else { 0 })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(live: &Value, patch: &Value) -> Result<Value, PatchError> {
        JsonPatch::decode(patch.to_string().as_bytes())
            .unwrap()
            .apply(live)
    }

    #[test]
    fn operations_run_in_order() {
        let patch = json!([
            {"op": "test", "path": "/a", "value": 1},
            {"op": "add", "path": "/b", "value": [1]},
            {"op": "add", "path": "/b/-", "value": 2},
            {"op": "replace", "path": "/a", "value": 3},
            {"op": "copy", "from": "/b", "path": "/c"},
            {"op": "remove", "path": "/b/0"},
        ]);
        let new = patched(&json!({"a": 1}), &patch).unwrap();
        assert_eq!(new, json!({"a": 3, "b": [2], "c": [1, 2]}));
    }

    #[test]
    fn what_is_absent_counts_as_null() {
        let patch = json!([
            {"op": "test", "path": "/b", "value": null},
            {"op": "replace", "path": "/b", "value": 2},
        ]);
        assert_eq!(
            patched(&json!({"a": 1}), &patch).unwrap(),
            json!({"a": 1, "b": 2})
        );
    }

    #[test]
    fn what_does_not_fit_is_unprocessable() {
        for operation in [
            json!({"op": "test", "path": "/a", "value": 2}),
            json!({"op": "remove", "path": "/nope"}),
            json!({"op": "replace", "path": "/nope/deeper", "value": 1}),
            json!({"op": "add", "path": "/nope/deeper", "value": 1}),
            json!({"op": "dance", "path": "/a"}),
            json!({"path": "/a"}),
        ] {
            let result = patched(&json!({"a": 1}), &json!([operation]));
            assert!(
                matches!(result, Err(PatchError::Unprocessable(_))),
                "{operation}"
            );
        }
    }

    #[test]
    fn only_lists_of_objects_are_patches() {
        for body in ["", "{}", "[1]", "null", "[{}"] {
            let result = JsonPatch::decode(body.as_bytes());
            assert!(matches!(result, Err(PatchError::Undecodable(_))), "{body}");
        }
    }

    #[test]
    fn operations_are_limited() {
        let patch = Value::Array(vec![
            json!({"op": "test", "path": "/a"});
            MAX_OPERATIONS + 1
        ]);
        let error = JsonPatch::decode(patch.to_string().as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "The allowed maximum operations in a JSON patch is 10000, got 10001"
        );
    }

    #[test]
    fn copies_cannot_blow_an_object_up() {
        let wide = vec![json!({"op": "copy", "from": "", "path": "/c"}); 100];
        let deep = vec![json!({"op": "move", "from": "/a", "path": "/a/b"}); 2];
        for patch in [wide, deep] {
            let result = patched(&json!({"a": "x".repeat(1000)}), &Value::Array(patch));
            assert!(matches!(result, Err(PatchError::Unprocessable(_))));
        }
    }
}
