//! Judging a value against the limits of a schema, in the words of the real server.

use serde_json::{Map, Value};

use super::{embedded, formats, lists};
use crate::field_error::{ErrorKind, FieldError, Path};
use crate::schema::{Combinators, Limits, Scalar, Schema, Shape, Struct};

/// Everything wrong with a value: types and limits first, then embedded objects, then lists
/// whose items must differ.
pub fn validate(schema: &Schema, value: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = check(schema, value, path);
    embedded::check(schema, value, path, &mut errors);
    lists::check(schema, value, path, &mut errors);
    errors
}

fn check(schema: &Schema, value: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let schema = schema.resolved();
    let mut errors = Vec::new();
    errors.extend(check_type(schema, value, path));
    if let Some(limits) = schema.limits.as_deref() {
        check_limits(limits, value, path, &mut errors);
    }
    check_parts(schema, value, path, &mut errors);
    errors
}

fn check_limits(limits: &Limits, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if let (Some(combinators), false) = (&limits.combinators, value.is_null()) {
        check_combinators(combinators, value, path, errors);
    }
    match value {
        Value::String(text) => check_text(limits, text, path, errors),
        Value::Number(_) => check_number(limits, value, path, errors),
        Value::Array(list) => check_list(limits, list, path, errors),
        Value::Object(object) => check_size(limits, object, path, errors),
        Value::Null | Value::Bool(_) => {}
    }
    errors.extend(check_enumeration(limits, value, path));
}

fn check_parts(schema: &Schema, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    match (&schema.shape, value) {
        (Shape::Struct(fields), Value::Object(object)) => {
            check_fields(fields, object, path, errors);
        }
        (Shape::Map { values, .. }, Value::Object(object)) => {
            for (key, value) in object {
                errors.extend(check(values, value, &path.child(key)));
            }
        }
        (Shape::List { items, .. }, Value::Array(list)) => {
            for (index, item) in list.iter().enumerate() {
                errors.extend(check(items, item, &path.index(index)));
            }
        }
        _ => {}
    }
}

fn check_fields(
    schema: &Struct,
    object: &Map<String, Value>,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    for (name, field) in &schema.fields {
        if let Some(value) = object.get(&**name) {
            errors.extend(check(field, value, &path.child(name)));
        }
    }
    for name in &schema.required {
        if !object.contains_key(&**name) {
            errors.push(FieldError::required(&path.child(name), ""));
        }
    }
}

fn check_type(schema: &Schema, value: &Value, path: &Path<'_>) -> Option<FieldError> {
    let limits = schema.limits.as_deref();
    let wanted = type_name(&schema.shape)?;
    if limits.is_some_and(|l| l.untyped) || (value.is_null() && schema.nullable) {
        return None;
    }
    let (given, given_format) = json_type(value);
    let fits = wanted.split(',').any(|w| w == given)
        || (given == "integer" && wanted.contains("number"))
        || (is_whole_number(value) && wanted.contains("integer"));
    if fits {
        return None;
    }
    // A mismatch against a format is worded with the format's name, except for texts and lists.
    let format = limits.and_then(|l| l.format.as_deref());
    let (wanted, given) = match format {
        Some(format) if !value.is_string() && !value.is_array() && !value.is_null() => {
            (format, given_format)
        }
        _ => (wanted, given),
    };
    let text = format!(
        "{} in body must be of type {wanted}: {given:?}",
        named(path)
    );
    Some(FieldError::type_invalid(path, given, text))
}

fn type_name(shape: &Shape) -> Option<&'static str> {
    Some(match shape {
        Shape::Scalar(Scalar::String) => "string",
        Shape::Scalar(Scalar::Integer) => "integer",
        Shape::Scalar(Scalar::Number) => "number",
        Shape::Scalar(Scalar::Boolean) => "boolean",
        Shape::Scalar(Scalar::IntOrString) => "integer,string",
        Shape::Struct(_) | Shape::Map { .. } => "object",
        Shape::List { .. } => "array",
        Shape::Scalar(Scalar::Untyped) | Shape::Any | Shape::Named(_) => return None,
    })
}

/// The type of a JSON value and the format that the server takes it to have.
fn json_type(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_f64() => ("number", "float64"),
        Value::Number(_) => ("integer", "int64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

fn is_whole_number(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn check_text(limits: &Limits, text: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    errors.extend(check_writing(limits, text, path));
    if let Some(format) = limits.format.as_ref().filter(|f| !formats::fits(f, text)) {
        let detail = format!("{} in body must be of type {format}: {text:?}", named(path));
        errors.push(FieldError::type_invalid(path, text, detail));
    }
}

/// Length and pattern; the first fault is the only one that is told.
fn check_writing(limits: &Limits, text: &str, path: &Path<'_>) -> Option<FieldError> {
    let length = text.chars().count() as u64;
    if let Some(limit) = limits.max_length.filter(|limit| length > *limit) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        return Some(FieldError::too_long(path, limit));
    }
    if let Some(limit) = limits.min_length.filter(|limit| length < *limit) {
        let name = named(path);
        let detail = format!("{name} in body should be at least {limit} chars long");
        return Some(FieldError::invalid(path, text, detail));
    }
    let pattern = limits.pattern.as_ref().filter(|p| !p.matches(text))?;
    let detail = format!("{} in body should match '{pattern}'", named(path));
    Some(FieldError::invalid(path, text, detail))
}

fn check_number(limits: &Limits, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(number) = value.as_f64() else { return };
    let mut refuse = |words: &str, limit: f64| {
        let detail = format!(
            "{} in body should be {words} {}",
            named(path),
            number_text(value, limit)
        );
        errors.push(FieldError::invalid(path, value.clone(), detail));
    };
    match (limits.maximum, limits.exclusive_maximum) {
        (Some(limit), false) if number > limit => refuse("less than or equal to", limit),
        (Some(limit), true) if number >= limit => refuse("less than", limit),
        _ => {}
    }
    match (limits.minimum, limits.exclusive_minimum) {
        (Some(limit), false) if number < limit => refuse("greater than or equal to", limit),
        (Some(limit), true) if number <= limit => refuse("greater than", limit),
        _ => {}
    }
    errors.extend(check_multiple(limits, value, path));
    errors.extend(check_width(limits, value, path));
}

/// Integers are divided by whole factors only, so that a broken factor is refused.
fn check_multiple(limits: &Limits, value: &Value, path: &Path<'_>) -> Option<FieldError> {
    let (factor, number) = (limits.multiple_of?, value.as_f64()?);
    let factor = if value.is_f64() {
        factor
    } else {
        factor.trunc()
    };
    let name = named(path);
    if factor <= 0.0 {
        let factor = go_float(factor);
        let detail = format!("factor MultipleOf declared for {name} must be positive: {factor}");
        return Some(FieldError::invalid(path, Value::Null, detail).showing(factor));
    }
    let detail = format!(
        "{name} in body should be a multiple of {}",
        go_float(factor)
    );
    let is_multiple = (number / factor).fract() == 0.0;
    (!is_multiple).then(|| FieldError::invalid(path, value.clone(), detail))
}

fn check_width(limits: &Limits, value: &Value, path: &Path<'_>) -> Option<FieldError> {
    let format = limits.format.as_deref()?;
    let is_broken = value.is_f64() && !is_whole_number(value);
    let words = format!(
        "Checked value must be of type integer with format {format} in {}",
        named(path)
    );
    let value = Some(Value::String(String::new()));
    (matches!(format, "int32" | "int64") && is_broken)
        .then(|| FieldError::new(ErrorKind::Invalid, &Path::root(), value, words))
}

/// Limits are shown as integers beside integers.
fn number_text(beside: &Value, limit: f64) -> String {
    match beside.is_f64() {
        true => go_float(limit),
        false => format!("{:.0}", limit.trunc()),
    }
}

/// A number as Go's `%v` writes it.
fn go_float(number: f64) -> String {
    let exponent = match number {
        0.0 => 0.0,
        n => n.abs().log10().floor(),
    };
    if (-4.0..21.0).contains(&exponent) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power:0>2}"),
        _ => text,
    }
}

fn check_list(limits: &Limits, list: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let length = list.len() as u64;
    if let Some(limit) = limits.min_items.filter(|limit| length < *limit) {
        let detail = format!("{} in body should have at least {limit} items", named(path));
        errors.push(FieldError::invalid(path, length, detail));
    }
    if let Some(limit) = limits.max_items.filter(|limit| length > *limit) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        errors.push(FieldError::too_many(path, list.len(), limit));
    }
    if limits.unique_items && lists::has_duplicates(list) {
        let detail = format!("{} in body shouldn't contain duplicates", named(path));
        errors.push(FieldError::invalid(path, "", detail));
    }
}

fn check_size(
    limits: &Limits,
    object: &Map<String, Value>,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let size = object.len() as u64;
    if let Some(limit) = limits.min_properties.filter(|limit| size < *limit) {
        let detail = format!(
            "{} in body should have at least {limit} properties",
            named(path)
        );
        errors.push(FieldError::invalid(path, size, detail));
    }
    if let Some(limit) = limits.max_properties.filter(|limit| size > *limit) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        errors.push(FieldError::too_many(path, object.len(), limit));
    }
}

fn check_enumeration(limits: &Limits, value: &Value, path: &Path<'_>) -> Option<FieldError> {
    let allowed = &limits.enumeration;
    if allowed.is_empty() || allowed.iter().any(|a| same(a, value)) {
        return None;
    }
    let names: Vec<String> = allowed
        .iter()
        .map(|a| a.as_str().map_or_else(|| a.to_string(), str::to_owned))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Some(FieldError::not_supported(path, value.clone(), &names))
}

/// Numbers are the same when their values are: `1` is `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a == b)
}

fn check_combinators(
    rules: &Combinators,
    value: &Value,
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    check_any_of(&rules.any_of, value, path, errors);
    check_one_of(&rules.one_of, value, path, errors);
    check_all_of(&rules.all_of, value, path, errors);
    if rules
        .not
        .as_ref()
        .is_some_and(|not| check(not, value, path).is_empty())
    {
        errors.push(composite(path, "must not validate the schema (not)"));
    }
}

fn check_any_of(rules: &[Schema], value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let outcomes: Vec<_> = rules.iter().map(|rule| check(rule, value, path)).collect();
    if outcomes.is_empty() || outcomes.iter().any(Vec::is_empty) {
        return;
    }
    errors.push(composite(path, "must validate at least one schema (anyOf)"));
    errors.extend(closest(outcomes));
}

fn check_one_of(rules: &[Schema], value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let outcomes: Vec<_> = rules.iter().map(|rule| check(rule, value, path)).collect();
    let valid = outcomes.iter().filter(|errors| errors.is_empty()).count();
    let words = "must validate one and only one schema (oneOf).";
    match (outcomes.is_empty(), valid) {
        (true, _) | (_, 1) => {}
        (false, 0) => {
            errors.push(composite(path, &format!("{words} Found none valid")));
            errors.extend(closest(outcomes));
        }
        (false, many) => {
            let words = format!("{words} Found {many} valid alternatives");
            errors.push(composite(path, &words));
        }
    }
}

fn check_all_of(rules: &[Schema], value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let outcomes: Vec<_> = rules.iter().map(|rule| check(rule, value, path)).collect();
    let valid = outcomes.iter().filter(|errors| errors.is_empty()).count();
    errors.extend(outcomes.into_iter().flatten());
    if valid < rules.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        errors.push(composite(
            path,
            &format!("must validate all the schemas (allOf){none}"),
        ));
    }
}

/// The faults of the alternative that came closest to fitting.
fn closest(outcomes: Vec<Vec<FieldError>>) -> Vec<FieldError> {
    outcomes
        .into_iter()
        .min_by_key(Vec::len)
        .unwrap_or_default()
}

/// Faults of combinations carry no field; the text names it.
fn composite(path: &Path<'_>, words: &str) -> FieldError {
    let detail = format!("\"{}\" {words}", named(path));
    let value = Some(Value::String(String::new()));
    FieldError::new(ErrorKind::Invalid, &Path::root(), value, detail)
}

/// How messages name the value: the whole has no name.
fn named(path: &Path<'_>) -> String {
    match path.is_root() {
        true => String::new(),
        false => path.to_string(),
    }
}
