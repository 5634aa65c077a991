//! The types that expressions see, with how much of them there can be.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::schema::{Limits, Scalar, Schema, Shape, Struct};

/// The most bytes of a request, by which everything without a limit of its own is limited.
const REQUEST: u64 = 3 * 1024 * 1024;
/// The size of an object with known fields: the real server counts it as nothing, however much is
/// inside, so that comparing whole objects is as good as free.
const OBJECT: u64 = 0;

/// A type, and how large its values can be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declared {
    pub(crate) kind: Kind,
    /// The most elements of a list or map, or characters of a text.
    pub(crate) most: u64,
    /// The fewest bytes that a value takes in a request.
    pub(super) least_bytes: u64,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Timestamp,
    Duration,
    Type,
    List(Arc<Declared>),
    Map(Arc<Declared>, Arc<Declared>),
    Object(Arc<BTreeMap<String, Declared>>),
    Optional(Arc<Declared>),
    /// A type that only its own functions look into.
    Opaque(&'static str),
    /// Whatever type it turns out to be, the same everywhere in one signature.
    Parameter(char),
}

impl Declared {
    /// A type of which nothing else is known.
    pub(crate) fn any() -> Self {
        Self::unlimited(Kind::Dyn)
    }

    pub(super) fn unlimited(kind: Kind) -> Self {
        Self::of(kind, u64::MAX, 1)
    }

    pub(super) fn of(kind: Kind, most: u64, least_bytes: u64) -> Self {
        Self {
            kind,
            most,
            least_bytes,
        }
    }

    /// The type that a schema describes; `root` is that of a whole object.
    pub(crate) fn of_schema(schema: &Schema, root: bool) -> Self {
        match &schema.shape {
            Shape::Scalar(scalar) => of_scalar(*scalar, schema.limits.as_deref()),
            Shape::Struct(fields) => of_struct(fields, root || fields.embedded_resource),
            Shape::Map { values, .. } => {
                let values = Self::of_schema(values, false);
                let limit = schema
                    .limits
                    .as_ref()
                    .and_then(|limits| limits.max_properties);
                let most = limit.unwrap_or((REQUEST - 2) / (values.least_bytes + 6));
                // The real server counts the length of keys as nothing.
                let keys = Self::of(Kind::String, 0, 2);
                Self::of(Kind::Map(Arc::new(keys), Arc::new(values)), most, 2)
            }
            Shape::List { items, .. } => {
                let items = Self::of_schema(items, false);
                let limit = schema.limits.as_ref().and_then(|limits| limits.max_items);
                let most = limit.unwrap_or((REQUEST - 2) / (items.least_bytes + 1));
                Self::of(Kind::List(Arc::new(items)), most, 2)
            }
            Shape::Any | Shape::Named(_) => Self::any(),
        }
    }

    /// The same type where a value may be absent.
    pub(crate) fn optional(self) -> Self {
        let most = self.most;
        Self::of(Kind::Optional(Arc::new(self)), most, 1)
    }

    /// How often values of this type fit into one request.
    pub(crate) fn cardinality(&self) -> u64 {
        REQUEST / (self.least_bytes + 1)
    }
}

fn of_scalar(scalar: Scalar, limits: Option<&Limits>) -> Declared {
    match scalar {
        Scalar::Boolean => Declared::of(Kind::Bool, 0, 4),
        Scalar::Integer => Declared::of(Kind::Int, 0, 1),
        Scalar::Number => Declared::of(Kind::Double, 0, 1),
        Scalar::IntOrString => Declared::of(Kind::Dyn, text_length(limits), 1),
        Scalar::Untyped => Declared::any(),
        Scalar::String => match limits.and_then(|limits| limits.format.as_deref()) {
            Some("byte") => Declared::of(Kind::Bytes, text_length(limits), 2),
            Some("duration") => Declared::of(Kind::Duration, 32, 3),
            Some("date") => Declared::of(Kind::Timestamp, 12, 12),
            Some("date-time") => Declared::of(Kind::Timestamp, 32, 21),
            _ => Declared::of(Kind::String, text_length(limits), 2),
        },
    }
}

/// Lengths are limited in characters, of which each can take four bytes.
fn text_length(limits: Option<&Limits>) -> u64 {
    let Some(limits) = limits else {
        return REQUEST - 2;
    };
    let texts = limits.enumeration.iter().filter_map(|value| value.as_str());
    match (limits.max_length, texts.map(str::len).max()) {
        (Some(length), _) => length.saturating_mul(4),
        (None, Some(length)) => u64::try_from(length).unwrap_or(u64::MAX),
        (None, None) => REQUEST - 2,
    }
}

fn of_struct(schema: &Struct, root: bool) -> Declared {
    let mut least_bytes = 2;
    let mut fields = BTreeMap::new();
    for (name, field) in &schema.fields {
        let declared = match (root, &**name) {
            (true, "metadata") => metadata(),
            _ => Declared::of_schema(field, false),
        };
        if schema.required.contains(name) && field.default.is_none() {
            least_bytes += name.len() as u64 + declared.least_bytes + 4;
        }
        if let Some(name) = escape(name) {
            fields.insert(name, declared);
        }
    }
    if schema.keeps_unknown && fields.is_empty() {
        return Declared::any();
    }
    Declared::of(Kind::Object(Arc::new(fields)), OBJECT, least_bytes)
}

/// Of the metadata, rules see the names only.
fn metadata() -> Declared {
    let text = || Declared::of(Kind::String, REQUEST - 2, 2);
    let fields = ["name", "generateName"].map(|name| (name.to_owned(), text()));
    Declared::of(Kind::Object(Arc::new(fields.into())), OBJECT, 2)
}

/// Words that cannot be names in the language.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// A field's name as expressions write it; none for one that they cannot.
pub(super) fn escape(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(plain) && !name.contains("__") {
        return Some(name.to_owned());
    }
    if !name
        .chars()
        .all(|c| plain(c) || matches!(c, '-' | '.' | '/'))
    {
        return None;
    }
    let escaped = name
        .replace("__", "__underscores__")
        .replace('-', "__dash__");
    Some(escaped.replace('.', "__dot__").replace('/', "__slash__"))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Dyn => "dyn",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Timestamp => "timestamp",
            Self::Duration => "duration",
            Self::Type => "type",
            Self::Object(_) => "object",
            Self::Opaque(name) => name,
            Self::List(items) => return write!(f, "list({})", items.kind),
            Self::Map(keys, values) => return write!(f, "map({}, {})", keys.kind, values.kind),
            Self::Optional(inner) => return write!(f, "optional_type({})", inner.kind),
            Self::Parameter(name) => return write!(f, "{name}"),
        };
        f.write_str(word)
    }
}
