//! Filling in the defaults that a custom resource's schema declares.

use serde_json::{Map, Value};

use crate::schema::{Schema, Shape, Struct};

/// Gives absent fields their defaults, at every depth. A null where the schema allows none
/// counts as absent.
pub fn default(schema: &Schema, value: &mut Value) {
    match (&schema.resolved().shape, value) {
        (Shape::Struct(fields), Value::Object(object)) => default_fields(fields, object),
        (Shape::Map { values, .. }, Value::Object(object)) => {
            object.retain(|_, value| replace_null(values, value));
            object.values_mut().for_each(|value| default(values, value));
        }
        (Shape::List { items, .. }, Value::Array(list)) => {
            for item in list {
                replace_null(items, item);
                default(items, item);
            }
        }
        _ => {}
    }
}

fn default_fields(schema: &Struct, object: &mut Map<String, Value>) {
    for (name, field) in &schema.fields {
        let known = object.get_mut(&**name);
        let keep = known.map(|value| replace_null(field, value));
        match (keep, &field.default) {
            (Some(false), _) => drop(object.remove(&**name)),
            (None, Some(default)) => drop(object.insert(name.to_string(), default.clone())),
            _ => {}
        }
        if let Some(value) = object.get_mut(&**name) {
            default(field, value);
        }
    }
}

/// Puts the default in the place of a null that may not stay; false if there is no default.
fn replace_null(schema: &Schema, value: &mut Value) -> bool {
    if !value.is_null() || schema.nullable || matches!(schema.resolved().shape, Shape::Any) {
        return true;
    }
    match &schema.default {
        Some(default) => {
            *value = default.clone();
            true
        }
        None => false,
    }
}
