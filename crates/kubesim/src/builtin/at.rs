//! A value together with where it stands, so that rules read like sentences.

use serde_json::{Map, Value};

use crate::field_error::{FieldError, Path};

/// A place in an object. Absent values read as null.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: Path<'a>,
}

static NULL: Value = Value::Null;

impl<'a> At<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        Self {
            value,
            path: Path::root(),
        }
    }

    pub(crate) fn field<'b>(&'b self, name: &'b str) -> At<'b> {
        At {
            value: self.value.get(name).unwrap_or(&NULL),
            path: self.path.child(name),
        }
    }

    /// The items of a list, each with its place.
    pub(crate) fn items<'b>(&'b self) -> impl Iterator<Item = At<'b>> {
        let list = self.value.as_array().into_iter().flatten();
        list.enumerate().map(|(index, value)| At {
            value,
            path: self.path.index(index),
        })
    }

    /// The entries of a map, each with its place, shown as `[key]`.
    pub(crate) fn entries<'b>(&'b self) -> impl Iterator<Item = (&'b str, At<'b>)> {
        let map = self.value.as_object().into_iter().flat_map(Map::iter);
        map.map(|(key, value)| {
            let path = self.path.key(key);
            (key.as_str(), At { value, path })
        })
    }

    pub(crate) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        self.value.as_i64()
    }

    pub(crate) fn is_true(&self) -> bool {
        self.value == true
    }

    pub(crate) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Null, an empty text, list or map.
    pub(crate) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.value.as_array().map_or(0, Vec::len)
    }

    pub(crate) fn required(&self, detail: &str) -> FieldError {
        FieldError::required(&self.path, detail)
    }

    pub(crate) fn invalid(&self, detail: impl Into<String>) -> FieldError {
        FieldError::invalid(&self.path, self.value.clone(), detail)
    }

    pub(crate) fn forbidden(&self, detail: impl Into<String>) -> FieldError {
        FieldError::forbidden(&self.path, detail)
    }

    pub(crate) fn duplicate(&self) -> FieldError {
        FieldError::duplicate(&self.path, self.value.clone())
    }

    pub(crate) fn not_supported(&self, supported: &[&str]) -> FieldError {
        FieldError::not_supported(&self.path, self.value.clone(), supported)
    }
}
