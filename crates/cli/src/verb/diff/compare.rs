//! Two manifests, object by object.

use std::collections::BTreeMap;

use evenkeel_manifest::{Document, Limits, ManifestError, parse};
use evenkeel_model::{DiffChange, ObjectDiff, ObjectKey};
use serde_json::Value;

use super::mask::masked;
use crate::noun::change::Change;
use crate::noun::object;

/// What becomes of each object that is not the same in both. An object is the same one whatever
/// version of its group it is written in.
pub(super) fn changes(before: &str, after: &str) -> Result<Vec<Change>, ManifestError> {
    let mut before = objects(before)?;
    let mut changes = Vec::new();
    for (key, new) in objects(after)? {
        match before.remove(&key) {
            None => changes.push(change(key, DiffChange::Create, None, Some(new))),
            Some(old) if old == new => {}
            Some(old) => changes.push(change(key, DiffChange::Update, Some(old), Some(new))),
        }
    }
    let gone = before.into_iter();
    changes.extend(gone.map(|(key, old)| change(key, DiffChange::Delete, Some(old), None)));
    Ok(changes)
}

fn change(
    object: ObjectKey,
    change: DiffChange,
    before: Option<Value>,
    after: Option<Value>,
) -> Change {
    let before = before.map(|value| masked(&object, value));
    let after = after.map(|value| masked(&object, value));
    Change {
        agent: None,
        diff: ObjectDiff {
            object,
            change,
            before,
            after,
            message: None,
        },
    }
}

fn objects(text: &str) -> Result<BTreeMap<ObjectKey, Value>, ManifestError> {
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let keyed = |one: Document| (object::key(&one.id), Value::Object(one.object));
    Ok(parse(text, Limits::NONE)?.into_iter().map(keyed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str, value: &str) -> String {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: {value}}}\n"
        )
    }

    fn words(before: &str, after: &str) -> Vec<String> {
        let word = |change: Change| format!("{} {}", change.diff.change, change.object().name);
        changes(before, after)
            .unwrap()
            .into_iter()
            .map(word)
            .collect()
    }

    #[test]
    fn each_object_is_created_updated_deleted_or_left_alone() {
        let before = map("same", "x") + &map("other", "x") + &map("gone", "x");
        let after = map("new", "x") + &map("same", "x") + &map("other", "y");
        assert_eq!(
            words(&before, &after),
            ["create new", "update other", "delete gone"]
        );
    }

    #[test]
    fn order_and_style_are_no_difference() {
        let before = map("a", "x") + &map("b", "y");
        let after = "apiVersion: v1\ndata:\n  a: \"y\"\nkind: ConfigMap\nmetadata:\n  name: b\n"
            .to_owned()
            + &map("a", "x");
        assert!(words(&before, &after).is_empty());
    }

    #[test]
    fn from_nothing_all_is_new() {
        assert_eq!(words("", &map("a", "x")), ["create a"]);
    }
}
