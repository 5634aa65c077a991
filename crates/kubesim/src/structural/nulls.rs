//! Nulls where a schema allows none.

use serde_json::Value;

use crate::schema::{Schema, Shape};

/// Drops fields and map entries that are null although the schema allows none and has no default
/// for them. Bodies that clients send are read so; what an apply leaves as null is not, and is
/// refused.
pub fn drop_nulls(schema: &Schema, value: &mut Value) {
    match (&schema.resolved().shape, value) {
        (Shape::Struct(fields), Value::Object(object)) => {
            object.retain(|name, value| match fields.fields.get(name.as_str()) {
                Some(field) => keep(field, value),
                None => true,
            });
        }
        (Shape::Map { values, .. }, Value::Object(object)) => {
            object.retain(|_, value| keep(values, value));
        }
        (Shape::List { items, .. }, Value::Array(list)) => {
            list.iter_mut().for_each(|item| drop_nulls(items, item));
        }
        _ => {}
    }
}

fn keep(schema: &Schema, value: &mut Value) -> bool {
    drop_nulls(schema, value);
    !is_stray_null(schema, value) || schema.default.is_some()
}

pub(super) fn is_stray_null(schema: &Schema, value: &Value) -> bool {
    value.is_null() && !schema.nullable && !matches!(schema.resolved().shape, Shape::Any)
}
