//! What client-side tools left in an object's managed fields.
//!
//! `kubectl apply` without `--server-side` owns all that it ever wrote. An object that comes to us
//! from there has every field twice: ours, and theirs. A field that leaves our manifest would then
//! stay, because they still own it. So their entries become part of ours.

use serde_json::Value;

use crate::fields::own_entry;
use crate::metadata::{Fields, Managed};

/// Whether an entry is of a client-side tool that declares whole objects.
pub(crate) fn is_leftover(entry: &Managed) -> bool {
    const TOOLS: [&str; 2] = ["kubectl-client-side-apply", "before-first-apply"];
    let manager = entry.manager.as_deref();
    entry.operation.as_deref() == Some("Update")
        && entry.subresource.as_deref().is_none_or(str::is_empty)
        && manager.is_some_and(|manager| TOOLS.contains(&manager))
}

/// The entries with all leftovers made part of what `manager` applied; `None` if there are none.
pub(crate) fn inherited(entries: Vec<Managed>, manager: &str) -> Option<Vec<Managed>> {
    let (left, mut others): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_leftover);
    let mut heir = left.first()?.clone();
    if let Some(own) = own_entry(&others, manager) {
        heir = own.clone();
        others.retain(|entry| *entry != heir);
    }
    (heir.manager, heir.operation) = (Some(manager.to_owned()), Some("Apply".to_owned()));
    let mut fields = tree(&heir);
    for entry in &left {
        unite(&mut fields, tree(entry));
    }
    heir.fields = Some(Fields::from(fields));
    others.push(heir);
    Some(others)
}

fn tree(entry: &Managed) -> Value {
    entry.fields.as_ref().map_or(Value::Null, Fields::tree)
}

/// Adds the fields of `more` to `fields`.
fn unite(fields: &mut Value, more: Value) {
    match (fields, more) {
        (Value::Object(fields), Value::Object(more)) => {
            for (name, part) in more {
                unite(fields.entry(name).or_insert(Value::Null), part);
            }
        }
        (fields @ Value::Null, more) => *fields = more,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(manager: &str, operation: &str, fields: Value) -> Managed {
        Managed {
            manager: Some(manager.into()),
            operation: Some(operation.into()),
            fields: Some(Fields::from(fields)),
            ..Managed::default()
        }
    }

    #[test]
    fn leftovers_become_part_of_ours_and_others_stay() {
        let (ours, theirs) = (
            json!({"f:data": {"f:a": {}}}),
            json!({"f:data": {"f:b": {}}}),
        );
        let hpa = entry("hpa", "Update", json!({"f:spec": {}}));
        let left = entry("kubectl-client-side-apply", "Update", theirs);
        let entries = vec![entry("us", "Apply", ours), hpa.clone(), left.clone()];
        let both = json!({"f:data": {"f:a": {}, "f:b": {}}});
        assert_eq!(
            inherited(entries, "us"),
            Some(vec![hpa.clone(), entry("us", "Apply", both)])
        );
        assert_eq!(inherited(vec![hpa], "us"), None);
        let alone = inherited(vec![left], "us").unwrap();
        assert_eq!(
            alone,
            [entry("us", "Apply", json!({"f:data": {"f:b": {}}}))]
        );
    }
}
