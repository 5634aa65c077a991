//! One step from a value to a part of it, and paths made of steps.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::scalar;

/// One step from a value to a part of it.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A field of an object, written `f:name`.
    Field(Arc<str>),
    /// The item of a list that has these key fields, sorted by name, written `k:{...}`.
    Key(Arc<[(Arc<str>, Value)]>),
    /// The item of a set, written `v:...`.
    Item(Value),
    /// A position in a list, written `i:0`. Only foreign writers produce it.
    Index(i64),
}

/// Why a key of FieldsV1 is not a step.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    /// A kind of step that a later version may know: skipped by readers.
    #[error("unknown kind of step {0:?}")]
    Unknown(String),
    /// Not a step at all.
    #[error("{0:?} is not a step: {1}")]
    Malformed(String, String),
}

impl Step {
    pub(crate) fn field(name: &str) -> Self {
        Self::Field(Arc::from(name))
    }

    /// Reads the notation of FieldsV1.
    pub(crate) fn parse(text: &str) -> Result<Self, StepError> {
        let malformed =
            |why: &dyn fmt::Display| StepError::Malformed(text.to_owned(), why.to_string());
        let Some((kind, rest)) = text
            .split_at_checked(2)
            .filter(|(kind, _)| kind.ends_with(':'))
        else {
            return Err(malformed(&"expected a letter and a colon"));
        };
        match kind {
            "f:" => Ok(Self::field(rest)),
            "v:" => serde_json::from_str(rest)
                .map(Self::Item)
                .map_err(|e| malformed(&e)),
            "k:" => serde_json::from_str(rest)
                .map(Self::key)
                .map_err(|e| malformed(&e)),
            "i:" => rest.parse().map(Self::Index).map_err(|e| malformed(&e)),
            _ => Err(StepError::Unknown(text.to_owned())),
        }
    }

    fn key(fields: Map<String, Value>) -> Self {
        let mut fields: Vec<_> = fields.into_iter().map(|(k, v)| (Arc::from(k), v)).collect();
        fields.sort_by(|(a, _): &(Arc<str>, Value), (b, _)| a.cmp(b));
        Self::Key(fields.into())
    }

    /// Writes the notation of FieldsV1.
    pub(crate) fn encode(&self) -> String {
        match self {
            Self::Field(name) => ["f:", name].concat(),
            Self::Key(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, value)| {
                        let name = Value::from(&**name);
                        format!("{}:{}", scalar::json(&name), scalar::json(value))
                    })
                    .collect();
                format!("k:{{{}}}", fields.join(","))
            }
            Self::Item(value) => format!("v:{}", scalar::json(value)),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Item(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => compare_keys(a, b),
            (Self::Item(a), Self::Item(b)) => scalar::order(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

fn compare_keys(a: &[(Arc<str>, Value)], b: &[(Arc<str>, Value)]) -> Ordering {
    let fields = a.iter().zip(b).map(|((name, value), (other_name, other))| {
        name.cmp(other_name)
            .then_with(|| scalar::order(value, other))
    });
    fields
        .fold(Ordering::Equal, Ordering::then)
        .then_with(|| a.len().cmp(&b.len()))
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Step {}

/// As messages show a step: `.name`, `[name="c"]`, `[="a"]`, `[0]`.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}={}", scalar::shown(value)))
                    .collect();
                write!(f, "[{}]", fields.join(","))
            }
            Self::Item(value) => write!(f, "[={}]", scalar::shown(value)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_keep_their_notation() {
        for text in [
            "f:data",
            "f:kubernetes.io/metadata.name",
            r#"k:{"containerPort":80,"protocol":"TCP"}"#,
            r#"v:"ex.io/f""#,
            "v:3",
            "i:7",
        ] {
            assert_eq!(Step::parse(text).unwrap().encode(), text);
        }
    }

    #[test]
    fn what_is_not_a_step_is_refused() {
        for text in ["", "f", "fx", "k:{", "k:[]", "v:", "i:x", "é:"] {
            assert!(
                matches!(Step::parse(text), Err(StepError::Malformed(..))),
                "{text}"
            );
        }
        assert!(matches!(Step::parse("x:later"), Err(StepError::Unknown(_))));
    }

    #[test]
    fn html_is_escaped_as_the_server_does() {
        assert_eq!(
            Step::Item(json!("a<&>")).encode(),
            r#"v:"a\u003c\u0026\u003e""#
        );
    }

    #[test]
    fn steps_are_ordered_by_kind_then_by_value() {
        let sorted = [
            "f:a",
            "f:b",
            r#"k:{"port":80}"#,
            r#"k:{"port":443}"#,
            "v:9",
            "v:10",
            r#"v:"a""#,
            "i:0",
        ]
        .map(|text| Step::parse(text).unwrap());
        assert!(sorted.is_sorted());
    }

    #[test]
    fn messages_show_steps_like_the_server() {
        let shown = |text: &str| Step::parse(text).unwrap().to_string();
        assert_eq!(shown("f:spec"), ".spec");
        assert_eq!(
            shown(r#"k:{"protocol":"TCP","port":80}"#),
            r#"[port=80,protocol="TCP"]"#
        );
        assert_eq!(shown(r#"v:"a""#), r#"[="a"]"#);
        assert_eq!(shown("i:3"), "[3]");
    }
}
