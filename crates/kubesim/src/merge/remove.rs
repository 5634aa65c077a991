//! Taking fields out of an object.

use serde_json::{Map, Value};

use super::path::Step;
use super::set::FieldSet;
use super::types::{Form, List, Object, form};
use crate::schema::Schema;

/// The value without the fields of the set; `null` where nothing is left of it.
pub(crate) fn remove(schema: &Schema, value: &Value, set: &FieldSet) -> Value {
    if set.is_empty() {
        return value.clone();
    }
    match (form(schema, Some(value)), value) {
        (Form::Leaf(_), _) => value.clone(),
        (Form::Object(object), Value::Object(fields)) if !object.is_atomic() => {
            let left = from_object(object, fields, set);
            if left.is_empty() {
                Value::Null
            } else {
                Value::Object(left)
            }
        }
        (Form::List(list), Value::Array(items)) if !list.is_atomic() => {
            let left = from_list(list, items, set);
            if left.is_empty() {
                Value::Null
            } else {
                Value::Array(left)
            }
        }
        (Form::Object(_) | Form::List(_), _) => Value::Null,
    }
}

fn from_object(
    object: Object<'_>,
    fields: &Map<String, Value>,
    set: &FieldSet,
) -> Map<String, Value> {
    fields
        .iter()
        .filter_map(|(name, value)| {
            let left = without(object.field_or_any(name), value, set, &Step::field(name))?;
            Some((name.clone(), left))
        })
        .collect()
}

fn from_list(list: List<'_>, items: &[Value], set: &FieldSet) -> Vec<Value> {
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| match list.step(index, item) {
            Ok(step) => without(list.items, item, set, &step),
            Err(_) => Some(item.clone()),
        })
        .collect()
}

/// What is left of the part of a value that a step leads to.
fn without(schema: &Schema, value: &Value, set: &FieldSet, step: &Step) -> Option<Value> {
    match set.get(step) {
        None => Some(value.clone()),
        Some(node) if node.member => None,
        Some(node) => Some(remove(schema, value, &node.below)),
    }
}
