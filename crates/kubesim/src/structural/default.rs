//! Filling in the defaults that a custom resource's schema declares.

use serde_json::{Map, Value};

use super::nulls::is_stray_null;
use crate::schema::{Schema, Shape, Struct};

/// Gives absent fields their defaults, at every depth. A null where the schema allows none
/// counts as absent; without a default it stays.
pub fn default(schema: &Schema, value: &mut Value) {
    match (&schema.resolved().shape, value) {
        (Shape::Struct(fields), Value::Object(object)) => default_fields(fields, object),
        (Shape::Map { values, .. }, Value::Object(object)) => {
            object.values_mut().for_each(|value| fill(values, value));
        }
        (Shape::List { items, .. }, Value::Array(list)) => {
            list.iter_mut().for_each(|item| fill(items, item));
        }
        _ => {}
    }
}

fn default_fields(schema: &Struct, object: &mut Map<String, Value>) {
    for (name, field) in &schema.fields {
        if let (None, Some(default)) = (object.get(&**name), &field.default) {
            object.insert(name.to_string(), default.clone());
        }
        if let Some(value) = object.get_mut(&**name) {
            fill(field, value);
        }
    }
}

/// Puts the default in the place of a null that may not stay, then looks further down.
fn fill(schema: &Schema, value: &mut Value) {
    if let (true, Some(default)) = (is_stray_null(schema, value), &schema.default) {
        *value = default.clone();
    }
    default(schema, value);
}
