//! Makes replies of two clusters comparable.
//!
//! What no two runs have in common is replaced by a name that tells which one it is: the first
//! uid of a scenario becomes `<uid 1>` wherever it occurs, and so do revisions, generated names
//! and continue tokens. Times become `<time>`. Revisions of lists and bookmarks lose their number:
//! on a real server they move with writes of others.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Remembers, through one scenario, what has been given which name.
#[derive(Debug, Default)]
pub struct Normaliser {
    uids: Names,
    revisions: Names,
    tokens: Names,
    generated: Vec<(String, String)>,
    /// Hashes of templates, which stand in the names of what was made of them.
    hashes: Vec<(String, String)>,
    addresses: Names,
}

/// The labels that hold the hash of a template.
const HASHES: [&str; 3] = [
    "pod-template-hash",
    "controller-revision-hash",
    "controller.kubernetes.io/hash",
];

/// Numbers things in the order in which they appear.
#[derive(Debug, Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn of(&mut self, sort: &str, text: &str) -> String {
        let next = self.0.len() + 1;
        let number = self.0.entry(text.to_owned()).or_insert(next);
        format!("<{sort} {number}>")
    }
}

impl Normaliser {
    /// Normalises the body of one reply.
    pub fn value(&mut self, value: Value) -> Value {
        match value {
            Value::Object(map) => self.object(map),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::String(text) => Value::String(self.text(&text)),
            other => other,
        }
    }

    /// Takes note of the names that a server has made up in this body.
    pub fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                self.learn_generated_name(map);
                self.learn_hashes(map);
                map.values().for_each(|value| self.learn(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            _ => {}
        }
    }

    fn learn_hashes(&mut self, map: &Map<String, Value>) {
        for hash in HASHES.iter().filter_map(|label| map.get(*label)?.as_str()) {
            // A stateful set puts its own name before the hash.
            let hash = hash.rsplit('-').next().unwrap_or(hash);
            if !self.hashes.iter().any(|(known, _)| known == hash) {
                let number = self.hashes.len() + 1;
                self.hashes
                    .push((hash.to_owned(), format!("<hash {number}>")));
            }
        }
    }

    fn object(&mut self, mut map: Map<String, Value>) -> Value {
        self.learn_generated_name(&map);
        sort_faults(&mut map);
        if is_list_or_bookmark(&map)
            && let Some(revision) = map
                .get_mut("metadata")
                .and_then(|m| m.get_mut("resourceVersion"))
        {
            *revision = "<revision>".into();
        }
        // The order of keys decides which uid is the first one; it must not depend on the server.
        let mut entries: Vec<_> = map.into_iter().collect();
        entries.sort_by(|(one, _), (two, _)| one.cmp(two));
        let entries = entries.into_iter().map(|(key, value)| {
            let value = self.field(&key, value);
            (self.text(&key), value)
        });
        Value::Object(entries.collect())
    }

    fn field(&mut self, key: &str, value: Value) -> Value {
        match (key, value) {
            ("resourceVersion", Value::String(text)) => self.revision(text),
            ("continue", Value::String(text)) if !text.is_empty() => {
                self.tokens.of("token", &text).into()
            }
            ("clusterIP", Value::String(text)) if text.starts_with("10.") => {
                self.addresses.of("address", &text).into()
            }
            ("clusterIPs", Value::Array(items)) => items
                .into_iter()
                .map(|item| self.field("clusterIP", item))
                .collect(),
            ("ca.crt", Value::String(_)) => "<certificate>".into(),
            ("nodePort" | "healthCheckNodePort", Value::Number(_)) => "<port>".into(),
            ("managedFields", Value::Array(entries)) => self.managers(entries),
            ("cells", Value::Array(cells)) => cells
                .into_iter()
                .map(|cell| match cell {
                    Value::String(text) if is_age(&text) => "<age>".into(),
                    cell => self.value(cell),
                })
                .collect(),
            ("message", Value::String(text)) => numbers_of_revisions(&self.text(&text)).into(),
            (_, value) => self.value(value),
        }
    }

    fn revision(&mut self, text: String) -> Value {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && text != "0" {
            return self.revisions.of("revision", &text).into();
        }
        text.into()
    }

    /// The server sorts entries by time in seconds, so that their order depends on the moment.
    fn managers(&mut self, entries: Vec<Value>) -> Value {
        let mut entries: Vec<Value> = entries.into_iter().map(|entry| self.value(entry)).collect();
        entries.sort_by_cached_key(|entry| {
            ["operation", "manager", "apiVersion", "subresource"]
                .map(|key| entry[key].as_str().unwrap_or_default().to_owned())
        });
        Value::Array(entries)
    }

    fn learn_generated_name(&mut self, map: &Map<String, Value>) {
        let text = |key| map.get(key).and_then(Value::as_str);
        if let (Some(base), Some(name)) = (text("generateName"), text("name"))
            && name
                .strip_prefix(base)
                .is_some_and(|suffix| suffix.len() == 5)
            && !self.generated.iter().any(|(known, _)| known == name)
        {
            let number = self.generated.len() + 1;
            self.generated
                .push((name.to_owned(), format!("{base}<suffix {number}>")));
        }
    }

    /// Names everything in a text that looks like a uid, a time or a generated name.
    fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, replacement) in self.generated.iter().chain(&self.hashes) {
            if text.contains(name.as_str()) {
                text = text.replace(name.as_str(), replacement);
            }
        }
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            if let Some(length) = uid_length(rest) {
                out.push_str(&self.uids.of("uid", &rest[..length]));
                rest = &rest[length..];
            } else if let Some(length) = time_length(rest) {
                out.push_str("<time>");
                rest = &rest[length..];
            } else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        out
    }
}

/// How long ago something was, as tables say it.
fn is_age(text: &str) -> bool {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let parts = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"smhdy".contains(&byte));
    digits && parts && text.ends_with(['s', 'm', 'h', 'd', 'y'])
}

fn is_list_or_bookmark(map: &Map<String, Value>) -> bool {
    let annotations = map
        .get("metadata")
        .and_then(|metadata| metadata.get("annotations"));
    let ends_initial_events =
        annotations.is_some_and(|map| map.get("k8s.io/initial-events-end").is_some());
    map.contains_key("items")
        || map.contains_key("rows")
        || ends_initial_events
        || map.get("metadata").is_some_and(only_revision)
}

/// A bookmark's object has nothing but a revision.
fn only_revision(metadata: &Value) -> bool {
    let Some(metadata) = metadata.as_object() else {
        return false;
    };
    metadata.contains_key("resourceVersion")
        && !metadata.contains_key("uid")
        && !metadata.contains_key("name")
}

/// A real server finds several faults of one object in no fixed order.
fn sort_faults(status: &mut Map<String, Value>) {
    let Some(causes) = status
        .get_mut("details")
        .and_then(|details| details.get_mut("causes"))
    else {
        return;
    };
    let Value::Array(causes) = causes else { return };
    let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    let fault = |cause: &Value| format!("{}: {}", text(cause, "field"), text(cause, "message"));
    causes.sort_by_cached_key(fault);
    let faults: Vec<String> = causes.iter().map(fault).collect();
    if let Some(Value::String(message)) = status.get_mut("message")
        && let Some((subject, _)) = message.split_once(" is invalid: [")
    {
        *message = format!("{subject} is invalid: [{}]", faults.join(", "));
    }
}

/// Revisions inside of messages: `(123)`, `current: 123` and in a quoted object.
fn numbers_of_revisions(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, after) = rest.split_at(at);
        let end = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let in_brackets = before.ends_with('(') && after[end..].starts_with(')');
        out.push_str(before);
        let in_object = before
            .trim_end_matches(['"', '\\', ':'])
            .ends_with("resourceVersion");
        if in_brackets || in_object || before.ends_with("current: ") {
            out.push_str("<number>");
        } else {
            out.push_str(&after[..end]);
        }
        rest = &after[end..];
    }
    out + rest
}

fn uid_length(text: &str) -> Option<usize> {
    matches_pattern(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

fn time_length(text: &str) -> Option<usize> {
    let length = matches_pattern(text, "dddd-dd-ddTdd:dd:dd")?;
    let fraction = text[length..].bytes();
    let fraction = fraction
        .take_while(|byte| *byte == b'.' || byte.is_ascii_digit())
        .count();
    text[length + fraction..]
        .starts_with('Z')
        .then_some(length + fraction + 1)
}

/// `x` stands for a lower-case hexadecimal digit, `d` for a digit, anything else for itself.
fn matches_pattern(text: &str, pattern: &str) -> Option<usize> {
    let bytes = text.as_bytes().get(..pattern.len())?;
    let fits = bytes
        .iter()
        .zip(pattern.bytes())
        .all(|(byte, wanted)| match wanted {
            b'x' => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            b'd' => byte.is_ascii_digit(),
            other => *byte == other,
        });
    fits.then_some(pattern.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ONE: &str = "dee79822-88a9-44d0-a5fe-0466554c3469";

    #[test]
    fn uids_and_revisions_get_names_that_last() {
        let mut normaliser = Normaliser::default();
        let object = |revision: &str| json!({"metadata": {"name": "a", "uid": ONE, "resourceVersion": revision}});
        let first = normaliser.value(object("210"));
        assert_eq!(first["metadata"]["uid"], "<uid 1>");
        assert_eq!(first["metadata"]["resourceVersion"], "<revision 1>");
        assert_eq!(
            normaliser.value(object("211"))["metadata"]["resourceVersion"],
            "<revision 2>"
        );
        assert_eq!(normaliser.value(object("210")), first);
    }

    #[test]
    fn texts_lose_what_differs_between_runs() {
        let mut normaliser = Normaliser::default();
        let status = json!({"message": format!("in record ({ONE}) at 2026-11-15T00:49:28Z, too old: 1 (293), current: 7")});
        let wanted = json!({"message": "in record (<uid 1>) at <time>, too old: 1 (<number>), current: <number>"});
        assert_eq!(normaliser.value(status), wanted);
    }

    #[test]
    fn generated_names_are_known_again() {
        let mut normaliser = Normaliser::default();
        let made = normaliser.value(json!({"metadata": {"generateName": "g-", "name": "g-qttk5"}}));
        assert_eq!(made["metadata"]["name"], "g-<suffix 1>");
        let text = normaliser.value(json!({"details": {"name": "g-qttk5"}}));
        assert_eq!(text["details"]["name"], "g-<suffix 1>");
    }

    #[test]
    fn faults_are_sorted_in_list_and_message() {
        let status = json!({"message": "X \"a\" is invalid: [b: two, a: one]", "details": {"causes": [
            {"field": "b", "message": "two"}, {"field": "a", "message": "one"},
        ]}});
        let sorted = Normaliser::default().value(status);
        assert_eq!(sorted["message"], "X \"a\" is invalid: [a: one, b: two]");
        assert_eq!(sorted["details"]["causes"][0]["field"], "a");
    }

    #[test]
    fn managers_are_sorted_whatever_the_time() {
        let mut normaliser = Normaliser::default();
        let entries = json!({"managedFields": [
            {"manager": "b", "operation": "Apply"}, {"manager": "a", "operation": "Update"},
            {"manager": "a", "operation": "Apply"},
        ]});
        let sorted = normaliser.value(entries);
        let names: Vec<_> = sorted["managedFields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["manager"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["a", "b", "a"]);
    }
}
