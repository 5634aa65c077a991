//! Making replies alike: what no two servers have in common is replaced by its name, and
//! recordings that were cut off are closed again.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// A reply in which uids, times, revisions, generated names and tokens are alike everywhere.
pub(crate) fn normal(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(fields) => {
            let field =
                |(name, value): (&String, &Value)| (name.clone(), normal_field(name, value));
            Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
        }
        Value::String(text) => normal_text(text).into(),
        other => other.clone(),
    }
}

fn normal_field(name: &str, value: &Value) -> Value {
    match (name, value.as_str()) {
        ("resourceVersion", Some(_)) => "REVISION".into(),
        ("continue", Some(token)) => normal_token(token),
        _ => normal(value),
    }
}

/// A token is as good as what it says, but for the revision.
fn normal_token(token: &str) -> Value {
    let bytes = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
    let mut token: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if token["rv"].as_i64().is_some_and(|revision| revision > 0) {
        token["rv"] = "REVISION".into();
    }
    token["start"] = normal_text(token["start"].as_str().unwrap_or_default()).into();
    token
}

fn normal_text(text: &str) -> String {
    let hex = |c: char| c.is_ascii_hexdigit();
    let words: Vec<String> = text
        .split_inclusive([' ', '(', ')', '.', ',', '\0'])
        .map(|word| {
            let end = word.trim_end_matches([' ', '(', ')', '.', ',', '\0']).len();
            let (word, rest) = word.split_at(end);
            let lengths: Vec<usize> = word.split('-').map(str::len).collect();
            let uid = lengths == [8, 4, 4, 4, 12] && word.replace('-', "").chars().all(hex);
            // A uid that a client made up is not random.
            let uid = uid && !word.starts_with("11111111");
            let time =
                word.len() == 20 && word.ends_with('Z') && word.as_bytes().get(10) == Some(&b'T');
            let generated = word
                .trim_start_matches('/')
                .strip_prefix("g-")
                .is_some_and(|rest| rest.len() == 5);
            let replaced = match () {
                () if uid => "UID",
                () if time => "TIME",
                () if generated => "GENERATED",
                () => word,
            };
            format!("{replaced}{rest}")
        })
        .collect();
    without_revisions(&words.concat())
}

/// Some messages end with the server's revision.
fn without_revisions(text: &str) -> String {
    for head in [
        "Too large resource version: 99999999, current: ",
        "too old resource version: 1 (",
        "too old resource version: 5 (",
    ] {
        if let Some(at) = text.find(head) {
            return format!("{}REVISION", &text[..at + head.len()]);
        }
    }
    text.to_owned()
}

/// JSON that was cut off, closed after its last whole value; whether it was cut.
pub(crate) fn complete(text: &str) -> (String, bool) {
    if serde_json::from_str::<Value>(text).is_ok() {
        return (text.to_owned(), false);
    }
    let mut open: Vec<char> = Vec::new();
    let mut whole = (0, String::new());
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => drop(open.pop()),
            ',' => whole = (at, open.iter().rev().collect()),
            _ => {}
        }
        if !quoted && matches!(c, '}' | ']') {
            whole = (at + 1, open.iter().rev().collect());
        }
    }
    (format!("{}{}", &text[..whole.0], whole.1), true)
}

/// Whether everything in `part` is in `whole`; lists may go on.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(name, part)| whole.get(name).is_some_and(|whole| contains(whole, part))),
        (Value::Array(whole), Value::Array(part)) => {
            part.len() <= whole.len()
                && whole
                    .iter()
                    .zip(part)
                    .all(|(whole, part)| contains(whole, part))
        }
        (whole, part) => whole == part,
    }
}
