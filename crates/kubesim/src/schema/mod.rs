//! What a value may look like: the one model of types that merging, pruning, defaulting and
//! validation share.
//!
//! Schemas of built-in kinds come from a generated table, those of custom resources from their
//! definitions; both end up as a [`Schema`].

mod table;
mod wire;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use table::builtin;
pub(crate) use table::{named, numbers};
pub(crate) use wire::{Meaning, Numbers};

/// One node of a type: its shape, and what else is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// How values of this type are built, and so how they merge.
    pub shape: Shape,
    /// The value that an absent field takes.
    pub default: Option<Value>,
    /// Whether an explicit `null` is kept.
    pub nullable: bool,
    /// The field of a built-in type that is never absent, because the real server's type holds it
    /// by value or writes it even when empty: absent reads as empty. Never so in custom resources.
    /// It decides whether a writer who fills the field also owns the field itself.
    pub by_value: bool,
    /// Limits that values must keep; absent for types that have none.
    pub limits: Option<Box<Limits>>,
}

impl Schema {
    /// A type of this shape, without default or limits.
    pub fn of(shape: Shape) -> Self {
        Self {
            shape,
            default: None,
            nullable: false,
            by_value: false,
            limits: None,
        }
    }

    /// The type itself, where this one is only a name.
    pub fn resolved(&self) -> &Schema {
        match self.shape {
            Shape::Named(name) => table::named(name).unwrap_or(self),
            _ => self,
        }
    }
}

/// How values of a type are built.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A leaf: always replaced whole.
    Scalar(Scalar),
    /// An object with named fields.
    Struct(Struct),
    /// An object with free keys (`additionalProperties`).
    Map {
        /// The type of every value.
        values: Arc<Schema>,
        /// Owned and replaced as one leaf.
        atomic: bool,
    },
    /// A list.
    List {
        /// The type of every item.
        items: Arc<Schema>,
        /// How lists of this type merge.
        kind: ListKind,
    },
    /// No schema at all: objects merge field by field, lists are atomic.
    Any,
    /// A built-in type by its name in the generated table; only recursive types need it.
    Named(&'static str),
}

/// The type of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the JSON types")]
pub enum Scalar {
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
    /// A leaf of which the type is not known.
    Untyped,
}

/// An object with named fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Struct {
    /// The type's name in the table of built-in types.
    pub name: Option<&'static str>,
    /// The fields by name.
    pub fields: BTreeMap<Arc<str>, Arc<Schema>>,
    /// Names of fields that must be present.
    pub required: Vec<Arc<str>>,
    /// Owned and replaced as one leaf.
    pub atomic: bool,
    /// Fields that the schema does not name are kept (`x-kubernetes-preserve-unknown-fields`).
    pub keeps_unknown: bool,
    /// The value is itself a Kubernetes object (`x-kubernetes-embedded-resource`).
    pub embedded_resource: bool,
    /// How fields without a value are written. Only built-in types say so: their objects pass
    /// through typed structs in the real server, those of custom resources do not.
    pub encodings: BTreeMap<Arc<str>, Encoding>,
    /// Fields of built-in types that strategic merge patches do not treat as any other.
    pub patches: BTreeMap<Arc<str>, PatchStrategy>,
}

/// How a strategic merge patch treats a field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchStrategy {
    /// A list merges with the live one rather than replace it.
    pub merge: bool,
    /// An object replaces the live one rather than merge with it.
    pub replace: bool,
    /// The field that tells objects of a merging list apart; empty for lists of scalars.
    pub key: Arc<str>,
}

/// How a field is written that has no value, or the zero value of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Left out when null; zero values are kept.
    OmitNull,
    /// Left out when null, zero or empty.
    OmitEmpty,
    /// Always written; absent and null become the type's zero value.
    Zero,
    /// Always written; absent becomes null.
    Null,
}

/// How a list merges.
#[derive(Debug, Clone, PartialEq)]
pub enum ListKind {
    /// Replaced whole.
    Atomic,
    /// Scalars, each at most once.
    Set,
    /// Objects told apart by these keys.
    Map(Vec<ListKey>),
}

/// One key field of a list that merges by key.
#[derive(Debug, Clone, PartialEq)]
pub struct ListKey {
    /// The field's name.
    pub name: Arc<str>,
    /// What an absent field counts as (`protocol: TCP`).
    pub default: Option<Value>,
}

/// Limits that a structural schema puts on values.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names are those of OpenAPI")]
pub struct Limits {
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub exclusive_minimum: bool,
    pub exclusive_maximum: bool,
    pub multiple_of: Option<f64>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub pattern: Option<Pattern>,
    pub format: Option<String>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub unique_items: bool,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
    pub enumeration: Vec<Value>,
    /// The schema gave no type: only its other limits count.
    pub untyped: bool,
    /// `allOf`, `anyOf`, `oneOf` and `not`.
    pub combinators: Option<Box<Combinators>>,
    /// Rules in CEL (`x-kubernetes-validations`), kept as they were written.
    pub rules: Vec<Value>,
}

/// Schemas that a value must fit in combination.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names are those of OpenAPI")]
pub struct Combinators {
    pub all_of: Vec<Schema>,
    pub any_of: Vec<Schema>,
    pub one_of: Vec<Schema>,
    pub not: Option<Schema>,
}

/// A regular expression with its text, by which it is compared.
#[derive(Debug, Clone)]
pub struct Pattern(regex::Regex);

impl Pattern {
    /// Compiles the pattern.
    pub fn new(text: &str) -> Result<Self, regex::Error> {
        regex::Regex::new(text).map(Self)
    }

    /// Whether the pattern occurs in the text.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}
