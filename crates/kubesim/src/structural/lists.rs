//! Lists whose items must differ: sets, and lists that merge by key.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::field_error::{FieldError, Path};
use crate::schema::{ListKey, ListKind, Schema, Shape};

pub(super) fn check(schema: &Schema, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    match (&schema.resolved().shape, value) {
        (Shape::Struct(fields), Value::Object(object)) => {
            for (name, value) in object {
                if let Some(field) = fields.fields.get(name.as_str()) {
                    check(field, value, &path.child(name), errors);
                }
            }
        }
        (Shape::Map { values, .. }, Value::Object(object)) => {
            for (key, value) in object {
                check(values, value, &path.key(key), errors);
            }
        }
        (Shape::List { items, kind }, Value::Array(list)) => {
            check_kind(kind, list, path, errors);
            for (index, item) in list.iter().enumerate() {
                check(items, item, &path.index(index), errors);
            }
        }
        _ => {}
    }
}

fn check_kind(kind: &ListKind, list: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let identities: Vec<Value> = match kind {
        ListKind::Atomic => return,
        ListKind::Set => list.to_vec(),
        ListKind::Map(keys) => {
            if let Some(error) = first_non_object(list, path) {
                return errors.push(error);
            }
            list.iter().map(|item| key_of(keys, item)).collect()
        }
    };
    for index in second_occurrences(&identities) {
        let found = identities[index].clone();
        errors.push(FieldError::duplicate(&path.index(index), found));
    }
}

fn first_non_object(list: &[Value], path: &Path<'_>) -> Option<FieldError> {
    let (index, item) = list
        .iter()
        .enumerate()
        .find(|(_, item)| !item.is_object() && !item.is_null())?;
    let detail = "must be an object for an array of list-type map";
    Some(FieldError::invalid(
        &path.index(index),
        item.clone(),
        detail,
    ))
}

fn key_of(keys: &[ListKey], item: &Value) -> Value {
    let present = |key: &ListKey| Some((key.name.to_string(), item.get(&*key.name)?.clone()));
    Value::Object(keys.iter().filter_map(present).collect::<Map<_, _>>())
}

/// Each value that occurs more than once is reported once, where it occurs again.
fn second_occurrences(values: &[Value]) -> Vec<usize> {
    let mut times: HashMap<String, usize> = HashMap::with_capacity(values.len());
    let mut again = |value: &Value| {
        let count = times.entry(value.to_string()).or_default();
        *count += 1;
        *count == 2
    };
    (0..values.len()).filter(|i| again(&values[*i])).collect()
}

pub(super) fn has_duplicates(values: &[Value]) -> bool {
    !second_occurrences(values).is_empty()
}
