//! The complaint of a typed decoder about a value of the wrong JSON type.

use serde_json::Value;

use crate::quantity;
use crate::schema::{Scalar, Schema, Shape, Struct};

/// The first value that does not fit its built-in type, in the words of the real server's
/// decoder; `kind` is the object's kind. Nulls fit everywhere.
pub fn type_mismatch(schema: &Schema, value: &Value, kind: &str) -> Option<String> {
    let root = Place {
        holder: kind,
        path: String::new(),
    };
    check(schema, value, &root)
}

/// Where a value stands: the struct that holds it, and the names of the fields down to it.
struct Place<'a> {
    holder: &'a str,
    path: String,
}

impl Place<'_> {
    fn field<'b>(&self, holder: &'b str, name: &str) -> Place<'b> {
        let dot = if self.path.is_empty() { "" } else { "." };
        Place {
            holder,
            path: format!("{}{dot}{name}", self.path),
        }
    }
}

fn check(schema: &Schema, value: &Value, place: &Place<'_>) -> Option<String> {
    let schema = schema.resolved();
    match (&schema.shape, value) {
        (_, Value::Null) | (Shape::Any | Shape::Named(_), _) => None,
        (Shape::Struct(fields), Value::Object(_)) => check_fields(fields, value, place),
        (Shape::Map { values, .. }, Value::Object(object)) => object
            .values()
            .find_map(|value| check(values, value, place)),
        (Shape::List { items, .. }, Value::Array(list)) => {
            list.iter().find_map(|item| check(items, item, place))
        }
        (Shape::Scalar(scalar), value) if fits(*scalar, value) => check_text(schema, value, place),
        _ => Some(complaint(schema, value, place)),
    }
}

fn check_fields(schema: &Struct, value: &Value, place: &Place<'_>) -> Option<String> {
    let holder: &str = match schema.name {
        Some(name) => short_name(name),
        None => place.holder,
    };
    let object = value.as_object()?;
    object.iter().find_map(|(name, value)| {
        let field = schema.fields.get(name.as_str())?;
        check(field, value, &place.field(holder, name))
    })
}

fn fits(scalar: Scalar, value: &Value) -> bool {
    match scalar {
        Scalar::String => value.is_string(),
        Scalar::Integer => value.is_i64() || value.is_u64(),
        Scalar::Number => value.is_number(),
        Scalar::Boolean => value.is_boolean(),
        Scalar::IntOrString => value.is_string() || value.is_i64(),
        Scalar::Untyped => value.is_string() || value.is_number(),
    }
}

/// Leaves that are more than their JSON type: numbers have a width, quantities a form.
fn check_text(schema: &Schema, value: &Value, place: &Place<'_>) -> Option<String> {
    match schema.limits.as_ref()?.format.as_deref()? {
        "int32" => match i32::try_from(value.as_i64()?) {
            Ok(_) => None,
            Err(_) => Some(complaint(schema, value, place)),
        },
        "quantity" => match quantity::Quantity::of(value) {
            Some(_) => None,
            None => Some(quantity::FORM.to_owned()),
        },
        "byte" => bad_base64(value.as_str()?),
        _ => None,
    }
}

fn bad_base64(text: &str) -> Option<String> {
    use base64::prelude::{BASE64_STANDARD, Engine};
    let bare: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let error = BASE64_STANDARD.decode(&bare).err()?;
    let at = match error {
        base64::DecodeError::InvalidByte(offset, _)
        | base64::DecodeError::InvalidLastSymbol(offset, _) => offset,
        base64::DecodeError::InvalidLength(length) => length / 4 * 4,
        base64::DecodeError::InvalidPadding => bare.trim_end_matches('=').len(),
    };
    Some(format!("illegal base64 data at input byte {at}"))
}

fn complaint(schema: &Schema, value: &Value, place: &Place<'_>) -> String {
    let given = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if wants_integer(schema) => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    };
    let wanted = type_name(schema);
    match place.path.as_str() {
        "" => format!("json: cannot unmarshal {given} into Go value of type {wanted}"),
        path => format!(
            "json: cannot unmarshal {given} into Go struct field {}.{path} of type {wanted}",
            place.holder
        ),
    }
}

fn wants_integer(schema: &Schema) -> bool {
    matches!(schema.shape, Shape::Scalar(Scalar::Integer))
}

fn type_name(schema: &Schema) -> String {
    let schema = schema.resolved();
    let format = schema.limits.as_ref().and_then(|l| l.format.as_deref());
    match (&schema.shape, format) {
        (Shape::Scalar(Scalar::Integer), Some(width)) => width.to_owned(),
        (Shape::Scalar(Scalar::Integer), None) => "int64".to_owned(),
        (Shape::Scalar(Scalar::Boolean), _) => "bool".to_owned(),
        (Shape::Scalar(Scalar::Number), _) => "float64".to_owned(),
        (Shape::Scalar(Scalar::IntOrString), _) => "intstr.IntOrString".to_owned(),
        (Shape::Scalar(Scalar::String), Some("byte")) => "[]uint8".to_owned(),
        (Shape::Scalar(_), _) => "string".to_owned(),
        (Shape::Struct(fields), _) => fields.name.map_or("struct".to_owned(), qualified_name),
        (Shape::Map { values, .. }, _) => format!("map[string]{}", type_name(values)),
        (Shape::List { items, .. }, _) => format!("[]{}", type_name(items)),
        (Shape::Any | Shape::Named(_), _) => "interface {}".to_owned(),
    }
}

/// `core.v1.PodSpec` is `PodSpec` in messages about fields,
fn short_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// and `v1.PodSpec` in messages about types.
fn qualified_name(name: &str) -> String {
    let mut parts = name.rsplitn(3, '.');
    let own = parts.next().unwrap_or(name);
    parts
        .next()
        .map_or(own.to_owned(), |package| format!("{package}.{own}"))
}
