//! What a template computes with.

use std::collections::BTreeMap;
use std::fmt;

/// A value in a template.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Record(BTreeMap<&'static str, Value>),
}

impl Value {
    /// Whether `if` takes the first branch.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Record(_) => true,
        }
    }

    /// What it is called in messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
            Self::List(_) => "list",
            Self::Record(_) => "struct",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("<nil>"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => write_all(f, '[', items.iter(), ']'),
            Self::Record(fields) => write_all(f, '{', fields.values(), '}'),
        }
    }
}

fn write_all<'a>(
    f: &mut fmt::Formatter<'_>,
    open: char,
    items: impl Iterator<Item = &'a Value>,
    close: char,
) -> fmt::Result {
    let texts: Vec<_> = items.map(ToString::to_string).collect();
    write!(f, "{open}{}{close}", texts.join(" "))
}
