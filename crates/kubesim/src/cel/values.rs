//! From JSON to the values of expressions, and back.

use std::collections::HashMap;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine};
use cel::common::types::CelString;
use cel::common::value::CowVal;
use cel::objects::{Key, Map, OptionalValue};
use serde_json::Value as Json;

use super::types::escape;
use super::{ENVIRONMENT, Variable};
use crate::schema::{Scalar, Schema, Shape, Struct};

pub(super) fn of_variable(variable: &Variable<'_>) -> cel::Value {
    match variable {
        Variable::Plain(value, schema) => of(value, *schema),
        Variable::Optional(value, schema) => {
            let optional = match value {
                Some(value) => OptionalValue::of(of(value, *schema)),
                None => OptionalValue::none(),
            };
            cel::Value::Opaque(Arc::new(optional))
        }
    }
}

fn of(value: &Json, schema: Option<&Schema>) -> cel::Value {
    let shape = schema.map(|schema| &schema.resolved().shape);
    match (value, shape) {
        (Json::Object(fields), Some(Shape::Struct(known))) => of_fields(fields, known),
        (Json::Object(fields), Some(Shape::Map { values, .. })) => map(fields
            .iter()
            .map(|(key, value)| (key.clone(), of(value, Some(values))))),
        (Json::Array(items), Some(Shape::List { items: schema, .. })) => {
            list(items.iter().map(|item| of(item, Some(schema))))
        }
        (Json::Number(number), Some(Shape::Scalar(Scalar::Number))) => {
            cel::Value::Float(number.as_f64().unwrap_or_default())
        }
        (Json::String(text), Some(Shape::Scalar(Scalar::String))) => formatted(text, schema),
        (value, _) => plain(value),
    }
}

/// Fields that the language cannot name are not there for it.
fn of_fields(fields: &serde_json::Map<String, Json>, known: &Struct) -> cel::Value {
    map(fields.iter().filter_map(|(name, value)| {
        let schema = known.fields.get(name.as_str()).map(AsRef::as_ref);
        Some((escape(name)?, of(value, schema)))
    }))
}

fn plain(value: &Json) -> cel::Value {
    match value {
        Json::Null => cel::Value::Null,
        Json::Bool(flag) => cel::Value::Bool(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(number) => cel::Value::Int(number),
            None => cel::Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => cel::Value::String(Arc::new(text.clone())),
        Json::Array(items) => list(items.iter().map(plain)),
        Json::Object(fields) => map(fields
            .iter()
            .map(|(key, value)| (key.clone(), plain(value)))),
    }
}

fn list(items: impl Iterator<Item = cel::Value>) -> cel::Value {
    cel::Value::List(Arc::new(items.collect()))
}

fn map(entries: impl Iterator<Item = (String, cel::Value)>) -> cel::Value {
    let entries = entries.map(|(key, value)| (Key::String(Arc::new(key)), value));
    let map: HashMap<Key, cel::Value> = entries.collect();
    cel::Value::Map(Map { map: Arc::new(map) })
}

/// Texts of some formats are values of types of their own.
fn formatted(text: &str, schema: Option<&Schema>) -> cel::Value {
    let limits = schema.and_then(|schema| schema.limits.as_ref());
    let typed = match limits.and_then(|limits| limits.format.as_deref()) {
        Some("date-time") => converted("timestamp", text),
        Some("date") => converted("timestamp", &format!("{text}T00:00:00Z")),
        Some("duration") => converted("duration", text),
        Some("byte") => {
            let bytes = BASE64_STANDARD.decode(text).ok();
            bytes.map(|bytes| cel::Value::Bytes(Arc::new(bytes)))
        }
        _ => None,
    };
    typed.unwrap_or_else(|| cel::Value::String(Arc::new(text.to_owned())))
}

/// What one of the language's own conversions makes of a text.
fn converted(function: &str, text: &str) -> Option<cel::Value> {
    let argument = vec![CowVal::owned(CelString::from(text.to_owned()))];
    let convert = ENVIRONMENT.find_overload(function, &argument)?;
    let value = convert(argument).ok()?;
    cel::Value::try_from(value.as_ref()).ok()
}

pub(super) fn to_json(value: &cel::Value) -> Json {
    match value {
        cel::Value::Bool(flag) => (*flag).into(),
        cel::Value::Int(number) => (*number).into(),
        cel::Value::UInt(number) => (*number).into(),
        cel::Value::Float(number) => (*number).into(),
        cel::Value::String(text) => text.as_str().into(),
        cel::Value::Bytes(bytes) => BASE64_STANDARD.encode(bytes.as_slice()).into(),
        cel::Value::List(items) => items.iter().map(to_json).collect(),
        cel::Value::Map(map) => {
            let entries = map
                .map
                .iter()
                .map(|(key, value)| (key.to_string(), to_json(value)));
            Json::Object(entries.collect())
        }
        _ => Json::Null,
    }
}
