//! Label selectors in objects: their rules, and whether they match.

use serde_json::Value;

use super::at::At;
use super::rules::Faults;
use super::{metadata, names};

pub(super) fn check(selector: &At<'_>, faults: &mut Faults) {
    metadata::labels(
        &selector.value["matchLabels"],
        &selector.path.child("matchLabels"),
        &mut faults.0,
    );
    for expression in selector.field("matchExpressions").items() {
        check_expression(&expression, faults);
    }
}

fn check_expression(expression: &At<'_>, faults: &mut Faults) {
    let (operator, values) = (expression.field("operator"), expression.field("values"));
    match (operator.text(), values.is_empty()) {
        ("In" | "NotIn", true) => {
            let words = "must be specified when `operator` is 'In' or 'NotIn'";
            faults.add(values.required(words));
        }
        ("Exists" | "DoesNotExist", false) => {
            let words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            faults.add(values.forbidden(words));
        }
        ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
        _ => faults.add(operator.invalid("not a valid selector operator")),
    }
    faults.name(&expression.field("key"), names::qualified_name);
    for value in values.items() {
        faults.name(&value, names::label_value);
    }
}

pub(super) fn is_empty(selector: &Value) -> bool {
    let none = |name: &str| match &selector[name] {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => true,
    };
    none("matchLabels") && none("matchExpressions")
}

/// Whether labels fit a selector; an empty one fits all.
pub(super) fn matches(selector: &Value, labels: &Value) -> bool {
    let wanted = selector["matchLabels"].as_object().into_iter().flatten();
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    wanted
        .into_iter()
        .all(|(key, value)| labels.get(key) == Some(value))
        && expressions.into_iter().all(|e| fits(e, labels))
}

fn fits(expression: &Value, labels: &Value) -> bool {
    let key = expression["key"].as_str().unwrap_or_default();
    let found = labels.get(key);
    let listed = || {
        let values = expression["values"].as_array();
        values.is_some_and(|values| found.is_some_and(|label| values.contains(label)))
    };
    match expression["operator"].as_str() {
        Some("In") => listed(),
        Some("NotIn") => !listed(),
        Some("Exists") => found.is_some(),
        Some("DoesNotExist") => found.is_none(),
        _ => false,
    }
}
