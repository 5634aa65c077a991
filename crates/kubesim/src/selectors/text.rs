//! Selectors in objects, written as one line.

use serde_json::Value;

use crate::meta;

/// A label selector as one line of text; a plain map of labels is one too.
pub(crate) fn selector_text(selector: &Value) -> String {
    let labels = selector.get("matchLabels").unwrap_or(selector);
    let labels = labels.as_object().into_iter().flatten();
    let mut terms: Vec<String> = labels
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    terms.extend(expressions.filter_map(expression_text));
    terms.join(",")
}

fn expression_text(expression: &Value) -> Option<String> {
    let key = expression["key"].as_str()?;
    let mut values = meta::strings(expression.get("values"));
    values.sort_unstable();
    let values = values.join(",");
    match expression["operator"].as_str()? {
        "In" => Some(format!("{key} in ({values})")),
        "NotIn" => Some(format!("{key} notin ({values})")),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}
