//! Custom resources: columns that their definition names, or their age.

use serde_json::{Value, json};

use super::jsonpath::JsonPath;
use super::text::moment;
use super::{Seen, columns, human_duration};

/// The column of a definition that names none.
fn age() -> Value {
    let mut age = columns::shared("Age");
    age["type"] = "date".into();
    age["jsonPath"] = ".metadata.creationTimestamp".into();
    age
}

fn all(own: &[Value]) -> Vec<Value> {
    match own {
        [] => vec![age()],
        own => own.to_vec(),
    }
}

pub(super) fn heads(own: &[Value]) -> Value {
    let name = std::iter::once(columns::shared("Name"));
    name.chain(all(own).iter().map(head)).collect()
}

fn head(column: &Value) -> Value {
    let text = |name: &str| column[name].as_str().unwrap_or_default().to_owned();
    let path = text("jsonPath");
    let description = match text("description") {
        none if none.is_empty() => {
            format!("Custom resource definition column (in JSONPath format): {path}")
        }
        description => description,
    };
    json!({
        "name": text("name"),
        "type": text("type"),
        "format": text("format"),
        "description": description,
        "priority": column["priority"].as_i64().unwrap_or_default(),
    })
}

pub(super) fn cells(own: &[Value], seen: Seen<'_>) -> Vec<Value> {
    let name = std::iter::once(seen.name().into());
    name.chain(all(own).iter().map(|column| cell(column, seen)))
        .collect()
}

fn cell(column: &Value, seen: Seen<'_>) -> Value {
    let path = column["jsonPath"].as_str().and_then(JsonPath::parse);
    let Some(value) = path.as_ref().and_then(|path| path.find(seen.object)) else {
        return Value::Null;
    };
    match (column["type"].as_str().unwrap_or_default(), value) {
        ("string", value) => printed(value).into(),
        ("integer", Value::Number(number)) => whole(number).into(),
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(_)) => match moment(value) {
            Some(time) => human_duration(seen.now.duration_since(time)).into(),
            None => "<invalid>".into(),
        },
        _ => Value::Null,
    }
}

fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a real server cuts fractions off, too"
)]
fn whole(number: &serde_json::Number) -> Option<i64> {
    number
        .as_i64()
        .or_else(|| number.as_f64().map(|f| f as i64))
}
