//! From messages of built-in types to the JSON that they stand for.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Map, Value};

use super::ProtobufError;
use super::reader::{Reader, Wire};
use crate::schema::{self, Encoding, Meaning, Numbers, Scalar, Schema, Shape, Struct};
use crate::structural::is_empty;

/// An object of a built-in type. Numbers that the type does not know are skipped, as all readers
/// of such messages do.
pub(super) fn message(schema: &Schema, bytes: &[u8]) -> Result<Value, ProtobufError> {
    let mut object = Map::new();
    if let Shape::Struct(known) = &schema.resolved().shape
        && let Some(numbers) = known.name.and_then(schema::numbers)
    {
        read_fields(known, numbers, bytes, &mut object)?;
        drop_zeros(known, &mut object);
    }
    Ok(Value::Object(object))
}

fn read_fields(
    known: &Struct,
    numbers: &Numbers,
    bytes: &[u8],
    object: &mut Map<String, Value>,
) -> Result<(), ProtobufError> {
    for field in Reader::new(bytes) {
        let (number, wire) = field?;
        match numbers.get(number) {
            Some(Meaning::Inlined(inner)) => read_fields(known, inner, wire.bytes()?, object)?,
            Some(Meaning::Field(name)) => {
                if let Some(schema) = known.fields.get(*name) {
                    add(object, name, schema, wire)?;
                }
            }
            None => {}
        }
    }
    Ok(())
}

/// Adds a field, or one more item of it.
fn add(
    object: &mut Map<String, Value>,
    name: &str,
    schema: &Schema,
    wire: Wire<'_>,
) -> Result<(), ProtobufError> {
    match &schema.resolved().shape {
        Shape::List { items, .. } => {
            let list = object
                .entry(name)
                .or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                push(list, items, wire)?;
            }
        }
        Shape::Map { values, .. } => {
            let map = object
                .entry(name)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(map) = map {
                insert(map, values, wire.bytes()?)?;
            }
        }
        _ => drop(object.insert(name.to_owned(), value(schema, wire)?)),
    }
    Ok(())
}

/// Numbers may stand alone or packed into one field.
fn push(list: &mut Vec<Value>, items: &Schema, wire: Wire<'_>) -> Result<(), ProtobufError> {
    if let (Shape::Scalar(Scalar::Integer), Wire::Bytes(packed)) = (&items.shape, wire) {
        let mut reader = Reader::new(packed);
        while !reader.is_done() {
            list.push(reader.varint()?.cast_signed().into());
        }
        return Ok(());
    }
    list.push(value(items, wire)?);
    Ok(())
}

fn insert(
    map: &mut Map<String, Value>,
    values: &Schema,
    entry: &[u8],
) -> Result<(), ProtobufError> {
    let (mut key, mut found) = (
        String::new(),
        value(values, Wire::Bytes(&[])).unwrap_or_default(),
    );
    for field in Reader::new(entry) {
        match field? {
            (1, wire) => key = wire.text()?.to_owned(),
            (2, wire) => found = value(values, wire)?,
            _ => {}
        }
    }
    map.insert(key, found);
    Ok(())
}

fn value(schema: &Schema, wire: Wire<'_>) -> Result<Value, ProtobufError> {
    let limits = schema.limits.as_ref();
    let format = limits.and_then(|limits| limits.format.as_deref());
    Ok(match (&schema.resolved().shape, format) {
        (Shape::Scalar(Scalar::String), Some("date-time")) => {
            time(wire.bytes()?, "%Y-%m-%dT%H:%M:%SZ")?
        }
        (Shape::Scalar(Scalar::String), Some("date-time-micro")) => {
            time(wire.bytes()?, "%Y-%m-%dT%H:%M:%S%.6fZ")?
        }
        (Shape::Scalar(Scalar::String), Some("byte")) => {
            BASE64_STANDARD.encode(wire.bytes()?).into()
        }
        (Shape::Scalar(Scalar::String), _) => wire.text()?.into(),
        (Shape::Scalar(Scalar::Integer), _) => wire.number()?.into(),
        (Shape::Scalar(Scalar::Number), _) => f64::from_bits(wire.number()?.cast_unsigned()).into(),
        (Shape::Scalar(Scalar::Boolean), _) => (wire.number()? != 0).into(),
        (Shape::Scalar(Scalar::IntOrString), _) => int_or_string(wire.bytes()?)?,
        (Shape::Scalar(Scalar::Untyped), _) => first_text(wire.bytes()?)?.into(),
        (Shape::Struct(_), _) => message(schema, wire.bytes()?)?,
        // A list or map that is a message of its own has its items in the first field.
        (Shape::List { .. } | Shape::Map { .. }, _) => nested(schema, wire.bytes()?)?,
        (Shape::Any | Shape::Named(_), _) => raw_json(wire.bytes()?)?,
    })
}

fn nested(schema: &Schema, bytes: &[u8]) -> Result<Value, ProtobufError> {
    let mut holder = Map::new();
    for field in Reader::new(bytes) {
        let (_, wire) = field?;
        add(&mut holder, "items", schema, wire)?;
    }
    Ok(holder.remove("items").unwrap_or_default())
}

/// A time without a second is none.
fn time(bytes: &[u8], format: &str) -> Result<Value, ProtobufError> {
    let (mut seconds, mut nanos) = (None, 0);
    for field in Reader::new(bytes) {
        match field? {
            (1, wire) => seconds = Some(wire.number()?),
            (2, wire) => nanos = i32::try_from(wire.number()?).unwrap_or_default(),
            _ => {}
        }
    }
    let time = seconds.and_then(|seconds| jiff::Timestamp::new(seconds, nanos).ok());
    Ok(time.map_or(Value::Null, |time| time.strftime(format).to_string().into()))
}

fn int_or_string(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let (mut is_text, mut number, mut text) = (false, 0, "");
    for field in Reader::new(bytes) {
        match field? {
            (1, wire) => is_text = wire.number()? == 1,
            (2, wire) => number = wire.number()?,
            (3, wire) => text = wire.text()?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { number.into() })
}

/// The text in a message that holds nothing else: a quantity.
fn first_text(bytes: &[u8]) -> Result<&str, ProtobufError> {
    let field = Reader::new(bytes).next().transpose()?;
    field.map_or(Ok(""), |(_, wire)| wire.text())
}

/// A value of a free type is JSON inside of the message.
fn raw_json(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let field = Reader::new(bytes).next().transpose()?;
    let json = field.map_or(Ok(&b"null"[..]), |(_, wire)| wire.bytes())?;
    Ok(serde_json::from_slice(json).unwrap_or_default())
}

/// Typed clients write fields that they never set; in JSON those would have been left out.
fn drop_zeros(known: &Struct, object: &mut Map<String, Value>) {
    object.retain(|name, value| {
        let omitted = known.encodings.get(name.as_str()) == Some(&Encoding::OmitEmpty);
        !(omitted && is_empty(value))
    });
}
