//! Where two replies differ.

use std::fmt;

use serde_json::Value;

use super::reply::Reply;

/// One place at which two runs of a scenario differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Which reply, counted from 1.
    pub step: usize,
    /// Where in it, as a JSON pointer.
    pub place: String,
    /// What the reference said; `None`: nothing.
    pub expected: Option<Value>,
    /// What was said instead.
    pub found: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show =
            |value: &Option<Value>| value.as_ref().map_or("nothing".into(), Value::to_string);
        let Self {
            step,
            place,
            expected,
            found,
        } = self;
        write!(
            f,
            "reply {step} {place}: expected {}, found {}",
            show(expected),
            show(found)
        )
    }
}

/// Compares the replies of a run with those of the reference.
pub fn differences(expected: &[Reply], found: &[Reply]) -> Vec<Difference> {
    let mut out = Vec::new();
    for step in 0..expected.len().max(found.len()) {
        let of = |replies: &[Reply]| replies.get(step).and_then(|r| serde_json::to_value(r).ok());
        let (expected, found) = (of(expected), of(found));
        walk(
            step + 1,
            String::new(),
            expected.as_ref(),
            found.as_ref(),
            &mut out,
        );
    }
    out
}

fn walk(
    step: usize,
    place: String,
    expected: Option<&Value>,
    found: Option<&Value>,
    out: &mut Vec<Difference>,
) {
    if expected == found {
        return;
    }
    match (expected, found) {
        (Some(Value::Object(one)), Some(Value::Object(two))) => {
            let mut keys: Vec<_> = one.keys().chain(two.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                walk(
                    step,
                    format!("{place}/{key}"),
                    one.get(key),
                    two.get(key),
                    out,
                );
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(two))) if one.len() == two.len() => {
            for (index, (one, two)) in one.iter().zip(two).enumerate() {
                walk(step, format!("{place}/{index}"), Some(one), Some(two), out);
            }
        }
        (expected, found) => {
            let (expected, found) = (expected.cloned(), found.cloned());
            out.push(Difference {
                step,
                place,
                expected,
                found,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reply(body: Value) -> Reply {
        Reply {
            status: 200,
            media: None,
            warnings: Vec::new(),
            body,
        }
    }

    #[test]
    fn equal_replies_have_no_differences() {
        let replies = [reply(json!({"a": [1]}))];
        assert_eq!(differences(&replies, &replies), []);
    }

    #[test]
    fn a_difference_names_its_place() {
        let found = differences(
            &[reply(json!({"a": {"b": 1}}))],
            &[reply(json!({"a": {"b": 2}}))],
        );
        assert_eq!(
            found[0].to_string(),
            "reply 1 /body/a/b: expected 1, found 2"
        );
    }

    #[test]
    fn a_missing_reply_is_a_difference() {
        assert_eq!(differences(&[reply(Value::Null)], &[]).len(), 1);
    }
}
