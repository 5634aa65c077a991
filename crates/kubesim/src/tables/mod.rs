//! Objects as tables, which is how people look at them: `kubectl get` asks for nothing else.
//!
//! ```text
//! resource ──▶ Columns (recorded, or a definition's own)
//! object   ──▶ cells   (one function for each built-in resource, or paths of a definition) ──▶ row
//! ```
//!
//! `columns` knows the heads, `cells` what stands below them, `custom` does both for custom
//! resources; `jsonpath` finds values, `text` is how ages and lists are written.

mod cells;
mod columns;
mod custom;
mod jsonpath;
mod text;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::ambient::Ambient;
use crate::registry::{ResourceType, in_version};
use crate::request::{ApiRequest, TableVersion};
use crate::status::ApiError;

pub(crate) use text::human_duration;

/// An object, and the moment at which somebody looks at it.
#[derive(Clone, Copy)]
struct Seen<'a> {
    object: &'a Value,
    now: Timestamp,
}

/// How much of each object goes into its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Include {
    Nothing,
    Metadata,
    Object,
}

/// Writes the objects of one resource as tables, as one request wants them.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    version: TableVersion,
    include: Include,
    ambient: Ambient,
}

impl Printer {
    pub(crate) fn new(
        request: &ApiRequest,
        version: TableVersion,
        ambient: &Ambient,
    ) -> Result<Self, ApiError> {
        let include = match request.query.text("includeObject") {
            None | Some("Metadata") => Include::Metadata,
            Some("None") => Include::Nothing,
            Some("Object") => Include::Object,
            Some(other) => {
                return Err(ApiError::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: \
                     {other:?}: must be 'Metadata', 'Object', 'None', or empty"
                )));
            }
        };
        let ambient = ambient.clone();
        Ok(Self {
            version,
            include,
            ambient,
        })
    }

    /// The objects as a table; a table that follows another one of the same stream has no heads.
    pub(crate) fn table<'a>(
        &self,
        resource: &ResourceType,
        metadata: &Value,
        objects: impl Iterator<Item = &'a Value>,
        heads: bool,
    ) -> Value {
        let rows: Vec<Value> = objects.map(|object| self.row(resource, object)).collect();
        let columns = match heads {
            true => columns::of(resource),
            false => Value::Null,
        };
        json!({
            "kind": "Table",
            "apiVersion": self.version.api_version(),
            "metadata": metadata,
            "columnDefinitions": columns,
            "rows": rows,
        })
    }

    /// One object as a table.
    pub(crate) fn single(&self, resource: &ResourceType, object: &Value, heads: bool) -> Value {
        let metadata = json!({"resourceVersion": object["metadata"]["resourceVersion"]});
        self.table(resource, &metadata, std::iter::once(object), heads)
    }

    /// A bookmark as a table, which always shows the metadata that it is.
    pub(crate) fn bookmark(&self, resource: &ResourceType, bookmark: &Value, heads: bool) -> Value {
        let include = Include::Metadata;
        Self {
            include,
            ..self.clone()
        }
        .single(resource, bookmark, heads)
    }

    /// A scale as a table: it is no resource, so it has columns of its own.
    pub(crate) fn scale(&self, scale: &Value) -> Value {
        let seen = self.seen(scale);
        let object = match self.include {
            Include::Object => scale.clone(),
            Include::Nothing => Value::Null,
            Include::Metadata => self.metadata_of(scale),
        };
        json!({
            "kind": "Table",
            "apiVersion": self.version.api_version(),
            "metadata": {"resourceVersion": scale["metadata"]["resourceVersion"]},
            "columnDefinitions": columns::of_scale(),
            "rows": [{"cells": cells::scale(seen), "object": object}],
        })
    }

    fn seen<'a>(&self, object: &'a Value) -> Seen<'a> {
        let now = self.ambient.clock.now();
        Seen { object, now }
    }

    fn row(&self, resource: &ResourceType, object: &Value) -> Value {
        let seen = self.seen(object);
        let cells = cells::of(resource, seen);
        let mut row = json!({"cells": cells, "object": self.included(resource, object)});
        if resource.is("", "pods") {
            cells::add_conditions(&mut row, object);
        }
        row
    }

    fn included(&self, resource: &ResourceType, object: &Value) -> Value {
        match self.include {
            Include::Nothing => Value::Null,
            Include::Object => in_version(object, resource).into_owned(),
            Include::Metadata => self.metadata_of(object),
        }
    }

    fn metadata_of(&self, object: &Value) -> Value {
        json!({
            "kind": "PartialObjectMetadata",
            "apiVersion": self.version.api_version(),
            "metadata": object["metadata"],
        })
    }
}
