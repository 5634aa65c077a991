//! Quantities that were written as numbers.
//!
//! `cpu: 2` is as good as `cpu: "2"`, but the types of pods take only text, and one resource that
//! cannot be read would stop the watch of all.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

pub(super) fn as_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let mut value = Option::<Value>::deserialize(deserializer)?;
    if let Some(value) = &mut value {
        rewrite(value, false);
    }
    let read = value.map(serde_json::from_value).transpose();
    read.map_err(D::Error::custom)
}

/// Turns numbers into text where quantities stand.
fn rewrite(value: &mut Value, is_quantity: bool) {
    match value {
        Value::Number(number) if is_quantity => *value = Value::String(number.to_string()),
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, false)),
        Value::Object(fields) => {
            for (name, field) in fields {
                let amounts = matches!(name.as_str(), "limits" | "requests");
                match field {
                    Value::Object(each) if amounts => {
                        each.values_mut().for_each(|amount| rewrite(amount, true));
                    }
                    field => rewrite(field, matches!(name.as_str(), "sizeLimit" | "divisor")),
                }
            }
        }
        _ => {}
    }
}
