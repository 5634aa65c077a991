//! Whether an applied object fits its type; the messages are those of the real server.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::scalar;
use super::types::{Form, List, Object, form};
use crate::schema::{Scalar, Schema};

/// What does not fit, each with its place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeErrors(Vec<TypeError>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct TypeError {
    path: String,
    problem: String,
}

impl TypeErrors {
    pub(crate) fn one(problem: impl fmt::Display) -> Self {
        Self(vec![TypeError {
            path: String::new(),
            problem: problem.to_string(),
        }])
    }

    pub(crate) fn beneath(mut self, step: &dyn fmt::Display) -> Self {
        if self.0.is_empty() {
            return self;
        }
        let prefix = step.to_string();
        for error in &mut self.0 {
            error.path.insert_str(0, &prefix);
        }
        self
    }

    fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &self.0[..] {
            return write!(f, "{only}");
        }
        write!(f, "errors:")?;
        self.0.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl std::error::Error for TypeErrors {}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => write!(f, "{}", self.problem),
            path => write!(f, "{path}: {}", self.problem),
        }
    }
}

/// Checks a whole applied object.
pub(crate) fn check(schema: &Schema, value: &Value) -> Result<(), TypeErrors> {
    let errors = errors(schema, value);
    if errors.0.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

fn errors(schema: &Schema, value: &Value) -> TypeErrors {
    match (form(schema, Some(value)), value) {
        (Form::Leaf(_) | Form::Object(_) | Form::List(_), Value::Null) => TypeErrors::default(),
        (Form::Leaf(scalar), value) => {
            leaf_problem(scalar, value).map_or_else(TypeErrors::default, TypeErrors::one)
        }
        (Form::Object(object), Value::Object(fields)) => object_errors(object, fields),
        (Form::Object(_), other) => TypeErrors::one(format_args!(
            "expected map, got &{{{}}}",
            scalar::plain(other)
        )),
        (Form::List(list), Value::Array(items)) => list_errors(list, items),
        (Form::List(_), other) => TypeErrors::one(format_args!(
            "expected list, got &{{{}}}",
            scalar::plain(other)
        )),
    }
}

fn leaf_problem(scalar: Scalar, value: &Value) -> Option<String> {
    let shown = || format!("&{{{}}}", scalar::plain(value));
    match scalar {
        Scalar::Integer | Scalar::Number if !value.is_number() => Some(format!(
            "expected numeric (int or float), got {}",
            go_type(value)
        )),
        Scalar::String if !value.is_string() => Some(format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            go_syntax(value)
        )),
        Scalar::Boolean if !value.is_boolean() => {
            Some(format!("expected boolean, got {}", shown()))
        }
        Scalar::IntOrString | Scalar::Untyped if value.is_object() || value.is_array() => {
            Some(format!("expected any scalar, got {}", shown()))
        }
        Scalar::Integer
        | Scalar::Number
        | Scalar::String
        | Scalar::Boolean
        | Scalar::IntOrString
        | Scalar::Untyped => None,
    }
}

fn object_errors(object: Object<'_>, fields: &serde_json::Map<String, Value>) -> TypeErrors {
    let mut found = TypeErrors::default();
    for (name, value) in fields {
        let Some(schema) = object.field(name) else {
            // The real server stops looking at the object here.
            found.add(
                TypeErrors::one("field not declared in schema").beneath(&format_args!(".{name}")),
            );
            break;
        };
        found.add(errors(schema, value).beneath(&format_args!(".{name}")));
    }
    found
}

fn list_errors(list: List<'_>, items: &[Value]) -> TypeErrors {
    let mut found = TypeErrors::default();
    let mut seen = BTreeSet::new();
    for step in list.steps(items) {
        let (step, item) = match step {
            Ok(step) => step,
            Err((index, error)) => {
                found.add(TypeErrors::one(format_args!("element {index}: {error}")));
                break;
            }
        };
        if seen.contains(&step) {
            found.add(TypeErrors::one(format_args!(
                "duplicate entries for key {step}"
            )));
        }
        found.add(errors(list.items, item).beneath(&step));
        if !list.is_atomic() {
            seen.insert(step);
        }
    }
    found
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A value as Go's `%#v` prints it.
fn go_syntax(value: &Value) -> String {
    let joined = |items: Vec<String>| format!("{}{{{}}}", go_type(value), items.join(", "));
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => scalar::quoted(text),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => joined(items.iter().map(go_syntax).collect()),
        Value::Object(fields) => joined(
            fields
                .iter()
                .map(|(key, value)| format!("{}:{}", scalar::quoted(key), go_syntax(value)))
                .collect(),
        ),
    }
}
