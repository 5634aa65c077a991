//! What was seen: events, and the state of components.

use serde_json::{Value, json};

use super::condition;
use crate::tables::Seen;
use crate::tables::text::{number, or, text};

/// Events are shown as they are stored, in the words of the older group.
pub(super) fn event(seen: Seen<'_>) -> Vec<Value> {
    let event = seen.object;
    let times = Times::of(seen);
    vec![
        json!(times.last),
        json!(text(&event["type"])),
        json!(text(&event["reason"])),
        json!(target(&event["involvedObject"])),
        json!(text(&event["involvedObject"]["fieldPath"])),
        json!(source(event)),
        json!(text(&event["message"]).trim()),
        json!(times.first),
        json!(times.count),
        json!(seen.name()),
    ]
}

struct Times {
    first: String,
    last: String,
    count: i64,
}

impl Times {
    fn of(seen: Seen<'_>) -> Self {
        let event = seen.object;
        let first = match &event["firstTimestamp"] {
            Value::Null => seen.since(&event["eventTime"]),
            time => seen.since(time),
        };
        let series = &event["series"];
        let last = match (series, &event["lastTimestamp"]) {
            (Value::Object(_), _) => seen.since(&series["lastObservedTime"]),
            (_, Value::Null) => first.clone(),
            (_, time) => seen.since(time),
        };
        let count = match series {
            Value::Object(series) => number(series.get("count").unwrap_or(&Value::Null)),
            _ => number(&event["count"]).max(1),
        };
        Self { first, last, count }
    }
}

fn target(object: &Value) -> String {
    let kind = text(&object["kind"]).to_lowercase();
    match text(&object["name"]) {
        "" => kind,
        name => format!("{kind}/{name}"),
    }
}

fn source(event: &Value) -> String {
    let source = &event["source"];
    let component = or(&source["component"], text(&event["reportingComponent"]));
    match or(&source["host"], text(&event["reportingInstance"])) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    }
}

pub(super) fn component(seen: Seen<'_>) -> Vec<Value> {
    let healthy = condition(seen.object, "Healthy");
    let state = match healthy.map(|found| text(&found["status"])) {
        None => "Unknown",
        Some("True") => "Healthy",
        Some(_) => "Unhealthy",
    };
    let said = |name: &str| healthy.map_or("", |found| text(&found[name]));
    vec![
        json!(seen.name()),
        json!(state),
        json!(said("message")),
        json!(said("error")),
    ]
}
