//! The fields that an applied object speaks for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::path::Step;
use super::set::FieldSet;
use super::types::{Form, List, Object, form};
use crate::schema::Schema;

/// Every leaf, map key and list item of the value.
pub(crate) fn fields(schema: &Schema, value: &Value) -> FieldSet {
    walk(schema, value).0
}

/// The fields beneath a value, and whether the value is a leaf.
fn walk(schema: &Schema, value: &Value) -> (FieldSet, bool) {
    match (form(schema, Some(value)), value) {
        (Form::Leaf(_), _) => (FieldSet::default(), true),
        (Form::Object(object), _) if object.is_atomic() => (FieldSet::default(), true),
        (Form::List(list), _) if list.is_atomic() => (FieldSet::default(), true),
        (Form::Object(object), Value::Object(fields)) => (of_object(object, fields), false),
        (Form::List(list), Value::Array(items)) => (of_list(list, items), false),
        (Form::Object(_) | Form::List(_), _) => (FieldSet::default(), false),
    }
}

/// A field that the schema names is not itself part of the set unless it is a leaf or holds
/// nothing; a key of a map always is.
fn of_object(object: Object<'_>, fields: &serde_json::Map<String, Value>) -> FieldSet {
    let mut set = FieldSet::default();
    for (name, value) in fields {
        let (below, leaf) = walk(object.field_or_any(name), value);
        let hollow = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
        set.insert(
            Step::field(name),
            leaf || hollow || !object.names(name),
            below,
        );
    }
    set
}

/// Items that occur twice are owned as one leaf: nothing tells their fields apart.
fn of_list(list: List<'_>, items: &[Value]) -> FieldSet {
    let mut found: BTreeMap<Step, (bool, &Value)> = BTreeMap::new();
    for (step, item) in list.steps(items).flatten() {
        found
            .entry(step)
            .and_modify(|(twice, _)| *twice = true)
            .or_insert((false, item));
    }
    let mut set = FieldSet::default();
    for (step, (twice, item)) in found {
        let below = if twice {
            FieldSet::default()
        } else {
            walk(list.items, item).0
        };
        set.insert(step, true, below);
    }
    set
}
