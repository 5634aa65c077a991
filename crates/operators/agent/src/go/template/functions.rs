//! The functions that every template has.

use std::cmp::Ordering;

use super::value::Value;

const KNOWN: [&str; 15] = [
    "include", "and", "or", "not", "len", "index", "print", "println", "printf", "eq", "ne", "lt",
    "le", "gt", "ge",
];

pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

pub(super) fn call(name: &str, arguments: &[Value]) -> Result<Value, String> {
    match (name, arguments) {
        ("and", [first, rest @ ..]) => Ok(pick(first, rest, false)),
        ("or", [first, rest @ ..]) => Ok(pick(first, rest, true)),
        ("not", [value]) => Ok(Value::Bool(!value.is_true())),
        ("len", [value]) => length(value),
        ("index", [value, path @ ..]) => index(value, path),
        ("print", all) => Ok(Value::Text(spaced(all))),
        ("println", all) => Ok(Value::Text(joined(all, " ") + "\n")),
        ("printf", [Value::Text(format), rest @ ..]) => printf(format, rest).map(Value::Text),
        ("eq", [first, rest @ ..]) if !rest.is_empty() => {
            Ok(Value::Bool(rest.iter().any(|each| each == first)))
        }
        ("ne", [a, b]) => Ok(Value::Bool(a != b)),
        ("lt" | "le" | "gt" | "ge", [a, b]) => ordered(name, a, b),
        _ => Err(format!(
            "{name} cannot take {} such arguments",
            arguments.len()
        )),
    }
}

/// The first value that decides, else the last.
fn pick(first: &Value, rest: &[Value], decides: bool) -> Value {
    let mut all = std::iter::once(first).chain(rest);
    let last = rest.last().unwrap_or(first);
    all.find(|value| value.is_true() == decides)
        .unwrap_or(last)
        .clone()
}

fn length(value: &Value) -> Result<Value, String> {
    let length = match value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.len(),
        other => return Err(format!("a {} has no length", other.kind())),
    };
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn index(value: &Value, path: &[Value]) -> Result<Value, String> {
    let mut value = value;
    for at in path {
        value = match (value, at) {
            (Value::List(items), Value::Int(at)) => usize::try_from(*at)
                .ok()
                .and_then(|at| items.get(at))
                .ok_or_else(|| format!("index {at} is out of range"))?,
            (other, at) => return Err(format!("a {} has no index {at}", other.kind())),
        };
    }
    Ok(value.clone())
}

fn ordered(name: &str, a: &Value, b: &Value) -> Result<Value, String> {
    let order = match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        _ => {
            return Err(format!(
                "{name} cannot compare {} and {}",
                a.kind(),
                b.kind()
            ));
        }
    };
    Ok(Value::Bool(match name {
        "lt" => order == Ordering::Less,
        "le" => order != Ordering::Greater,
        "gt" => order == Ordering::Greater,
        _ => order != Ordering::Less,
    }))
}

fn joined(values: &[Value], between: &str) -> String {
    let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
    texts.join(between)
}

/// A space between two values of which neither is text.
fn spaced(values: &[Value]) -> String {
    let mut out = String::new();
    let mut after_text = true;
    for value in values {
        let is_text = matches!(value, Value::Text(_));
        if !is_text && !after_text {
            out.push(' ');
        }
        out.push_str(&value.to_string());
        after_text = is_text;
    }
    out
}

fn printf(format: &str, arguments: &[Value]) -> Result<String, String> {
    let mut arguments = arguments.iter();
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let verb = chars.next().ok_or("printf: the format ends in %")?;
        if verb == '%' {
            out.push('%');
            continue;
        }
        let value = arguments.next().ok_or("printf: an argument is missing")?;
        match verb {
            's' | 'v' | 'd' | 't' => out.push_str(&value.to_string()),
            'q' => out.push_str(&serde_json::Value::from(value.to_string()).to_string()),
            other => return Err(format!("printf: the verb %{other} is not known")),
        }
    }
    Ok(out)
}
