//! One thing wrong with one field, in the words of the real server.

use std::fmt;

use serde_json::Value;

/// A value that validation refused: where, what, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// The path of the field (`spec.ports[0].name`).
    pub field: String,
    /// What sort of fault it is.
    pub kind: ErrorKind,
    /// The refused value; shown by the kinds that show one.
    pub value: Option<Shown>,
    /// What would have been right; may be empty.
    pub detail: String,
}

/// A refused value as messages show it.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// A value, shown as text or JSON.
    Value(Value),
    /// Text that is shown as it is: JSON of the server's inner types, which has an order.
    Text(String),
}

/// The sorts of fault that the API tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub enum ErrorKind {
    NotFound,
    Required,
    Duplicate,
    Invalid,
    NotSupported,
    Forbidden,
    TooLong,
    TooShort,
    TooMany,
    TooFew,
    TypeInvalid,
    Internal,
}

impl ErrorKind {
    /// The `reason` of a cause in a Status object.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooShort => "FieldValueTooShort",
            Self::TooMany => "FieldValueTooMany",
            Self::TooFew => "FieldValueTooFew",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Internal => "InternalError",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooShort => "Too short",
            Self::TooMany => "Too many",
            Self::TooFew => "Too few",
            Self::Internal => "Internal error",
        }
    }

    fn shows_value(self) -> bool {
        !matches!(
            self,
            Self::Required | Self::Forbidden | Self::TooLong | Self::TooShort | Self::Internal
        )
    }
}

impl FieldError {
    /// An error of any kind; the named constructors below read better where they fit.
    pub fn new(
        kind: ErrorKind,
        field: &Path<'_>,
        value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            field: field.to_string(),
            kind,
            value: value.map(Shown::Value),
            detail: detail.into(),
        }
    }

    /// The same error, with its value shown as this text.
    #[must_use]
    pub fn showing(mut self, text: impl Into<String>) -> Self {
        self.value = Some(Shown::Text(text.into()));
        self
    }

    /// The field must have a value.
    pub fn required(field: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Required, field, None, detail)
    }

    /// The value is malformed or out of bounds.
    pub fn invalid(field: &Path<'_>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, field, Some(value.into()), detail)
    }

    /// The value has the wrong type.
    pub fn type_invalid(
        field: &Path<'_>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::TypeInvalid, field, Some(value.into()), detail)
    }

    /// The value may not occur twice.
    pub fn duplicate(field: &Path<'_>, value: impl Into<Value>) -> Self {
        Self::new(ErrorKind::Duplicate, field, Some(value.into()), "")
    }

    /// The value names something that does not exist.
    pub fn not_found(field: &Path<'_>, value: impl Into<Value>) -> Self {
        Self::new(ErrorKind::NotFound, field, Some(value.into()), "")
    }

    /// The value is well formed, but not allowed here.
    pub fn forbidden(field: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, field, None, detail)
    }

    /// The value is none of those that the field may take.
    pub fn not_supported(field: &Path<'_>, value: impl Into<Value>, supported: &[&str]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|s| go_quote(s)).collect();
        let detail = match quoted.is_empty() {
            true => String::new(),
            false => format!("supported values: {}", quoted.join(", ")),
        };
        Self::new(ErrorKind::NotSupported, field, Some(value.into()), detail)
    }

    /// The text or list is longer than `limit` bytes.
    pub fn too_long(field: &Path<'_>, limit: usize) -> Self {
        let detail = format!("may not be more than {limit} bytes");
        Self::new(ErrorKind::TooLong, field, None, detail)
    }

    /// The list has more than `limit` items.
    pub fn too_many(field: &Path<'_>, actual: usize, limit: usize) -> Self {
        let detail = format!("must have at most {limit} {}", items(limit));
        Self::new(ErrorKind::TooMany, field, Some(actual.into()), detail)
    }

    /// The `reason` of the cause in a Status object.
    pub fn reason(&self) -> &'static str {
        self.kind.reason()
    }

    /// The message without the field's path, as a Status object's cause has it.
    pub fn message(&self) -> String {
        let mut text = self.kind.words().to_owned();
        if let (true, Some(value)) = (self.kind.shows_value(), &self.value) {
            text.push_str(": ");
            text.push_str(&match value {
                Shown::Value(value) => render(value),
                Shown::Text(shown) => shown.clone(),
            });
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message())
    }
}

fn items(count: usize) -> &'static str {
    if count == 1 { "item" } else { "items" }
}

/// A value as the server's messages show it.
fn render(value: &Value) -> String {
    match value {
        Value::String(text) => go_quote(text),
        other => other
            .to_string()
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026"),
    }
}

/// A string in double quotes, escaped as Go's `%q` does.
pub(crate) fn go_quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    text.chars().for_each(|c| push_escaped(&mut quoted, c));
    quoted.push('"');
    quoted
}

/// A value as Go's `%v` writes it.
pub(crate) fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number
            .as_f64()
            .map_or_else(|| number.to_string(), |f| f.to_string()),
        Value::Bool(flag) => flag.to_string(),
        Value::Array(list) => format!(
            "[{}]",
            list.iter().map(go_text).collect::<Vec<_>>().join(" ")
        ),
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(k, v)| format!("{k}:{}", go_text(v)))
                .collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0b' => out.push_str("\\v"),
        '\x0c' => out.push_str("\\f"),
        c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
        c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
        c => out.push(c),
    }
}

/// Where in an object we are. Steps borrow the step before, so walking costs nothing; text is
/// made only for an error.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// The object itself.
    pub const fn root() -> Self {
        Self {
            parent: None,
            step: Step::Root,
        }
    }

    /// A field at the top of the object.
    pub const fn field(name: &'a str) -> Self {
        Self {
            parent: None,
            step: Step::Field(name),
        }
    }

    /// A field of the object at this path.
    pub fn child<'b>(&'b self, name: &'b str) -> Path<'b> {
        self.then(Step::Field(name))
    }

    /// An item of the list at this path.
    pub fn index<'b>(&'b self, index: usize) -> Path<'b> {
        self.then(Step::Index(index))
    }

    /// A key of the map at this path, which is shown in brackets.
    pub fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        self.then(Step::Key(key))
    }

    fn then<'b>(&'b self, step: Step<'b>) -> Path<'b> {
        Path {
            parent: Some(self),
            step,
        }
    }

    /// Whether this is the object itself.
    pub fn is_root(&self) -> bool {
        matches!(self.step, Step::Root)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = self.parent.filter(|p| !p.is_root());
        if let Some(parent) = parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => f.write_str("<nil>"),
            Step::Field(name) if parent.is_some() => write!(f, ".{name}"),
            Step::Field(name) => f.write_str(name),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_read_like_the_real_servers() {
        let spec = Path::field("spec");
        let ports = spec.child("ports");
        let item = ports.index(0);
        let cases = [
            (
                FieldError::required(&spec.child("ports"), ""),
                "spec.ports: Required value",
            ),
            (
                FieldError::invalid(
                    &item.child("port"),
                    0,
                    "must be between 1 and 65535, inclusive",
                ),
                "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
            ),
            (
                FieldError::invalid(&spec.child("selector"), json!({"a": "<b>"}), "no"),
                r#"spec.selector: Invalid value: {"a":"\u003cb\u003e"}: no"#,
            ),
            (
                FieldError::not_supported(&spec.child("type"), "Foo", &["A", "B"]),
                r#"spec.type: Unsupported value: "Foo": supported values: "A", "B""#,
            ),
            (
                FieldError::duplicate(&item.child("name"), "http"),
                r#"spec.ports[0].name: Duplicate value: "http""#,
            ),
            (
                FieldError::forbidden(&Path::field("data").key("a/b"), "no"),
                "data[a/b]: Forbidden: no",
            ),
        ];
        for (error, expected) in cases {
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn strings_are_quoted_as_go_does() {
        assert_eq!(go_quote("a\"b\\\n\u{1}é"), r#""a\"b\\\n\x01é""#);
    }
}
