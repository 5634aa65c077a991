//! How a value of a schema is walked: as a leaf, an object or a list.

use std::sync::Arc;

use serde_json::Value;

use super::path::Step;
use crate::schema::{ListKey, ListKind, Scalar, Schema, Shape, Struct};

/// What values without a schema are.
static ANY: Schema = Schema {
    shape: Shape::Any,
    default: None,
    nullable: true,
    by_value: false,
    limits: None,
};

/// How one value is walked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form<'a> {
    Leaf(Scalar),
    Object(Object<'a>),
    List(List<'a>),
}

/// An object: which type each field has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Object<'a> {
    Struct(&'a Struct),
    Map { values: &'a Schema, atomic: bool },
    Any,
}

/// A list: its items and how they are told apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List<'a> {
    pub(crate) items: &'a Schema,
    pub(crate) kind: &'a ListKind,
}

/// The form that a schema gives to a value; without a schema, the value decides.
pub(crate) fn form<'a>(schema: &'a Schema, value: Option<&Value>) -> Form<'a> {
    match &schema.resolved().shape {
        Shape::Scalar(scalar) => Form::Leaf(*scalar),
        Shape::Struct(fields) => Form::Object(Object::Struct(fields)),
        Shape::Map { values, atomic } => Form::Object(Object::Map {
            values,
            atomic: *atomic,
        }),
        Shape::List { items, kind } => Form::List(List { items, kind }),
        Shape::Any | Shape::Named(_) => match value {
            Some(Value::Array(_)) => Form::List(List {
                items: &ANY,
                kind: &ListKind::Atomic,
            }),
            None | Some(Value::Null | Value::Object(_)) => Form::Object(Object::Any),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                Form::Leaf(Scalar::Untyped)
            }
        },
    }
}

impl<'a> Object<'a> {
    pub(crate) fn is_atomic(self) -> bool {
        match self {
            Self::Struct(fields) => fields.atomic,
            Self::Map { atomic, .. } => atomic,
            Self::Any => false,
        }
    }

    /// Whether the schema names the field, as opposed to a key of a map.
    pub(crate) fn names(self, field: &str) -> bool {
        matches!(self, Self::Struct(fields) if fields.fields.contains_key(field))
    }

    /// The type of a field; nothing when the schema does not allow it.
    pub(crate) fn field(self, name: &str) -> Option<&'a Schema> {
        match self {
            Self::Map { values, .. } => Some(values),
            Self::Any => Some(&ANY),
            Self::Struct(fields) => match fields.fields.get(name) {
                Some(schema) => Some(schema),
                None => fields.keeps_unknown.then_some(&ANY),
            },
        }
    }

    /// The type of a field; anything goes where the schema does not allow it.
    pub(crate) fn field_or_any(self, name: &str) -> &'a Schema {
        self.field(name).unwrap_or(&ANY)
    }
}

/// Why an item of a list has no identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ItemError {
    #[error("associative list with keys may not have a null element")]
    NullInMap,
    #[error("associative list with keys may not have non-map elements")]
    NotAnObject,
    #[error(
        "associative list with keys has an element that omits all key fields [{0}] \
         (and doesn't have default values for any key fields)"
    )]
    NoKeys(String),
    #[error("associative list without keys has an element that's a map type")]
    ObjectInSet,
    #[error("not supported: associative list with lists as elements")]
    ListInSet,
    #[error("associative list without keys has an element that's an explicit null")]
    NullInSet,
}

impl<'a> List<'a> {
    pub(crate) fn is_atomic(self) -> bool {
        *self.kind == ListKind::Atomic
    }

    /// What tells the item apart from the others.
    pub(crate) fn step(self, index: usize, item: &Value) -> Result<Step, ItemError> {
        match self.kind {
            ListKind::Atomic => Ok(Step::Index(i64::try_from(index).unwrap_or(i64::MAX))),
            ListKind::Set => set_step(item),
            ListKind::Map(keys) => key_step(keys, item),
        }
    }

    /// Every item with what tells it apart.
    pub(crate) fn steps<'v>(
        self,
        items: &'v [Value],
    ) -> impl Iterator<Item = Result<(Step, &'v Value), (usize, ItemError)>> + use<'a, 'v> {
        items
            .iter()
            .enumerate()
            .map(move |(index, item)| match self.step(index, item) {
                Ok(step) => Ok((step, item)),
                Err(error) => Err((index, error)),
            })
    }
}

fn set_step(item: &Value) -> Result<Step, ItemError> {
    match item {
        Value::Object(_) => Err(ItemError::ObjectInSet),
        Value::Array(_) => Err(ItemError::ListInSet),
        Value::Null => Err(ItemError::NullInSet),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(Step::Item(item.clone())),
    }
}

/// A missing key counts as its default; without a default it is simply not part of the identity.
fn key_step(keys: &[ListKey], item: &Value) -> Result<Step, ItemError> {
    let fields = match item {
        Value::Null => return Err(ItemError::NullInMap),
        Value::Object(fields) => fields,
        _ => return Err(ItemError::NotAnObject),
    };
    let mut found: Vec<(Arc<str>, Value)> = keys
        .iter()
        .filter_map(|key| {
            let value = fields.get(&*key.name).or(key.default.as_ref())?;
            Some((key.name.clone(), value.clone()))
        })
        .collect();
    if found.is_empty() {
        let names: Vec<_> = keys
            .iter()
            .map(|key| super::scalar::quoted(&key.name))
            .collect();
        return Err(ItemError::NoKeys(names.join(" ")));
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Step::Key(found.into()))
}
