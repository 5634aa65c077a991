//! The form that a built-in object takes once it has passed through the server's own types.
//!
//! The real server reads built-in objects into typed structs and writes them out again: nulls
//! vanish, empty maps vanish where the type says so, some fields appear although nobody set
//! them, quantities and times get their canonical text. Watchers and field ownership see that
//! form, so the simulator takes it too.

use serde_json::{Map, Value, json};

use crate::quantity::Quantity;
use crate::schema::{Encoding, Schema, Shape, Struct};

/// Brings a value of a built-in type into the form that the server's types give it.
pub fn canonicalise(schema: &Schema, value: &mut Value) {
    let schema = schema.resolved();
    match (&schema.shape, value) {
        (Shape::Struct(fields), Value::Object(object)) => canonicalise_fields(fields, object),
        (Shape::Map { values, .. }, Value::Object(object)) => {
            for value in object.values_mut() {
                fill_null(values, value);
                canonicalise(values, value);
            }
        }
        (Shape::List { items, .. }, Value::Array(list)) => {
            for item in list {
                fill_null(items, item);
                canonicalise(items, item);
            }
        }
        (Shape::Scalar(_), value) => canonicalise_leaf(schema, value),
        _ => {}
    }
}

fn canonicalise_fields(schema: &Struct, object: &mut Map<String, Value>) {
    for (name, field) in &schema.fields {
        let encoding = schema.encodings.get(name);
        let encoding = encoding.copied().unwrap_or(Encoding::OmitNull);
        if !object.contains_key(&**name) && !is_always_written(encoding) {
            continue;
        }
        let value = object.entry(&**name).or_insert(Value::Null);
        if value.is_null() && encoding == Encoding::Zero {
            *value = zero(field);
        }
        canonicalise(field, value);
        // The store keeps no difference between an empty list or map and none.
        if encoding == Encoding::Zero && is_collection(field) && is_empty(value) {
            *value = Value::Null;
        }
        if is_left_out(encoding, value) {
            object.remove(&**name);
        }
    }
}

fn is_collection(schema: &Schema) -> bool {
    matches!(
        schema.resolved().shape,
        Shape::List { .. } | Shape::Map { .. }
    )
}

fn is_always_written(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Zero | Encoding::Null)
}

fn is_left_out(encoding: Encoding, value: &Value) -> bool {
    match encoding {
        Encoding::OmitNull => value.is_null(),
        Encoding::OmitEmpty => is_empty(value),
        Encoding::Zero | Encoding::Null => false,
    }
}

/// Whether Go would leave the value out of JSON under `omitempty`.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

/// Items and map values are held by value: a null reads as the zero value.
fn fill_null(schema: &Schema, value: &mut Value) {
    if value.is_null() {
        *value = zero(schema);
    }
}

fn zero(schema: &Schema) -> Value {
    use crate::schema::Scalar;
    let schema = schema.resolved();
    match (&schema.shape, format_of(schema)) {
        (Shape::Struct(_), _) => json!({}),
        (Shape::Scalar(Scalar::Untyped), Some("quantity")) => json!("0"),
        (Shape::Scalar(_), Some("date-time" | "date-time-micro" | "byte")) => Value::Null,
        (Shape::Scalar(Scalar::String), _) => json!(""),
        (Shape::Scalar(Scalar::Integer | Scalar::Number | Scalar::IntOrString), _) => json!(0),
        (Shape::Scalar(Scalar::Boolean), _) => json!(false),
        _ => Value::Null,
    }
}

fn format_of(schema: &Schema) -> Option<&str> {
    schema.limits.as_ref()?.format.as_deref()
}

fn canonicalise_leaf(schema: &Schema, value: &mut Value) {
    let canonical = match format_of(schema) {
        Some("quantity") => Quantity::of(value).map(|q| Value::String(q.to_string())),
        Some("date-time") => value.as_str().and_then(|text| time(text, false)),
        Some("date-time-micro") => value.as_str().and_then(|text| time(text, true)),
        _ => None,
    };
    if let Some(canonical) = canonical {
        *value = canonical;
    }
}

/// Times are kept to the second, or to the microsecond, in UTC.
fn time(text: &str, micro: bool) -> Option<Value> {
    let time: jiff::Timestamp = text.parse().ok()?;
    let form = if micro {
        "%Y-%m-%dT%H:%M:%S.%6fZ"
    } else {
        "%Y-%m-%dT%H:%M:%SZ"
    };
    Some(Value::String(time.strftime(form).to_string()))
}
