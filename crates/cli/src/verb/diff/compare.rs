//! Two manifests, object by object.

use std::collections::BTreeMap;

use evenkeel_manifest::{Document, Identity, Limits, ManifestError, parse};
use serde_json::Value;

use super::mask;
use crate::noun::change::{Change, ChangeKind};

/// What makes an object the same one: its version may change.
type Key = (String, String, Option<String>, String);

/// What becomes of each object that is not the same in both.
pub(super) fn changes(before: &str, after: &str) -> Result<Vec<Change>, ManifestError> {
    let mut before = objects(before)?;
    let mut changes = Vec::new();
    for (key, new) in objects(after)? {
        match before.remove(&key) {
            None => changes.push(change(ChangeKind::Create, None, Some(new))),
            Some(old) if old.object == new.object => {}
            Some(old) => changes.push(change(ChangeKind::Update, Some(old), Some(new))),
        }
    }
    let gone = before.into_values();
    changes.extend(gone.map(|old| change(ChangeKind::Delete, Some(old), None)));
    Ok(changes)
}

fn change(kind: ChangeKind, before: Option<Document>, after: Option<Document>) -> Change {
    let (before, after) = mask::pair(before.map(parts), after.map(parts));
    let id = after.as_ref().or(before.as_ref()).map(|(id, _)| id.clone());
    Change {
        id: id.unwrap_or_else(|| unreachable!("a change has at least one side")),
        kind,
        before: before.map(|(_, value)| value),
        after: after.map(|(_, value)| value),
    }
}

fn parts(document: Document) -> (Identity, Value) {
    (document.id, Value::Object(document.object))
}

fn objects(text: &str) -> Result<BTreeMap<Key, Document>, ManifestError> {
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let keyed = |document: Document| {
        let Identity {
            group,
            kind,
            namespace,
            name,
            ..
        } = document.id.clone();
        ((group, kind, namespace, name), document)
    };
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
        let word = |change: Change| format!("{} {}", change.kind.word().0, change.id.name);
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
