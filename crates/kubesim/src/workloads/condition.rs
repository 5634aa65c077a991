//! Conditions in the status of an object.

use serde_json::{Value, json};

/// The condition of this type.
pub(super) fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = status["conditions"].as_array()?;
    conditions
        .iter()
        .find(|condition| condition["type"] == kind)
}

/// Whether the condition of this type holds.
pub(super) fn holds(status: &Value, kind: &str) -> bool {
    find(status, kind).is_some_and(|condition| condition["status"] == "True")
}

/// Removes the condition of this type.
pub(super) fn remove(status: &mut Value, kind: &str) {
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != kind);
    }
}

/// Puts a condition at the end, in place of the one of its type.
pub(super) fn put(status: &mut Value, condition: Value) {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let kind = condition["type"].as_str().unwrap_or_default().to_owned();
    remove(status, &kind);
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.push(condition);
    }
}

/// Sets a condition unless one of its type says the same for the same reason. The time of the
/// last transition changes with the status only.
pub(super) fn set(status: &mut Value, mut condition: Value) {
    let kind = condition["type"].as_str().unwrap_or_default();
    if let Some(current) = find(status, kind)
        && current["status"] == condition["status"]
    {
        if current["reason"] == condition["reason"] {
            return;
        }
        condition["lastTransitionTime"] = current["lastTransitionTime"].clone();
    }
    put(status, condition);
}

/// A condition as of `now`.
pub(super) fn new(kind: &str, holds: bool, reason: &str, message: &str, now: &str) -> Value {
    json!({
        "type": kind,
        "status": if holds { "True" } else { "False" },
        "reason": reason,
        "message": message,
        "lastTransitionTime": now,
    })
}
