//! Bodies in protobuf, as typed clients send them, read into the JSON that they stand for.
//!
//! ```text
//! bytes ──▶ envelope (kind, raw) ──▶ message ──▶ fields by number ──▶ JSON by the type's names
//! ```
//!
//! Only requests are read; answers are JSON, which every such client takes too. `reader` takes
//! messages apart, `transcode` knows the built-in types.

mod reader;
mod transcode;

use serde_json::Value;

use crate::schema;
use reader::Reader;

/// What every body begins with.
const MAGIC: &[u8] = b"k8s\0";

/// Why a body cannot be read.
#[derive(Debug, thiserror::Error, PartialEq)]
pub(crate) enum ProtobufError {
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    NoPrefix,
    #[error("unexpected EOF")]
    Truncated,
    #[error("proto: wrong wireType = {0}")]
    WireType(u64),
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    UnknownKind { api_version: String, kind: String },
    #[error("proto: invalid UTF-8 in a string")]
    Text,
}

/// The object in a body.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let body = bytes.strip_prefix(MAGIC).ok_or(ProtobufError::NoPrefix)?;
    let envelope = Envelope::read(body)?;
    let Envelope {
        api_version,
        kind,
        raw,
    } = &envelope;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let found = schema::builtin(group, version, kind).or_else(|| {
        schema::named(&format!("meta.v1.{kind}"))
            .cloned()
            .map(Into::into)
    });
    let schema = found.ok_or_else(|| ProtobufError::UnknownKind {
        api_version: api_version.clone(),
        kind: kind.clone(),
    })?;
    let mut object = transcode::message(&schema, raw)?;
    object["apiVersion"] = api_version.as_str().into();
    object["kind"] = kind.as_str().into();
    Ok(object)
}

/// What is around every object.
#[derive(Default)]
struct Envelope<'a> {
    api_version: String,
    kind: String,
    raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, ProtobufError> {
        let mut envelope = Self::default();
        for field in Reader::new(bytes) {
            let (number, wire) = field?;
            match number {
                1 => envelope.read_type(wire.bytes()?)?,
                2 => envelope.raw = wire.bytes()?,
                _ => {}
            }
        }
        Ok(envelope)
    }

    fn read_type(&mut self, bytes: &[u8]) -> Result<(), ProtobufError> {
        for field in Reader::new(bytes) {
            let (number, wire) = field?;
            match number {
                1 => self.api_version = wire.text()?.to_owned(),
                2 => self.kind = wire.text()?.to_owned(),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
