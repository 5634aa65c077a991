//! What controllers ask of a pod.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::condition;
use super::desk::Noun;
use crate::meta;

/// The phase, or an empty text.
pub(super) fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

/// Whether all of its containers have ended for good.
pub(super) fn has_ended(pod: &Value) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Whether it counts as a replica.
pub(super) fn is_active(pod: &Value) -> bool {
    !has_ended(pod) && !meta::is_deleting(pod)
}

/// Whether it takes traffic.
pub(crate) fn is_ready(pod: &Value) -> bool {
    condition::holds(&pod["status"], "Ready")
}

/// The node that it is on.
pub(super) fn node(pod: &Value) -> Option<&str> {
    pod["spec"]["nodeName"]
        .as_str()
        .filter(|node| !node.is_empty())
}

/// How long, in seconds, until it has been ready for `min_ready` seconds: 0 when it has, nothing
/// when it is not ready at all.
pub(super) fn available_in(pod: &Value, min_ready: i64, now: Timestamp) -> Option<i64> {
    let ready = condition::find(&pod["status"], "Ready").filter(|_| is_ready(pod))?;
    if min_ready == 0 {
        return Some(0);
    }
    let since: Timestamp = ready["lastTransitionTime"].as_str()?.parse().ok()?;
    Some((since.as_second() + min_ready - now.as_second()).max(0))
}

/// Whether it has been ready for long enough.
pub(super) fn is_available(pod: &Value, min_ready: i64, now: Timestamp) -> bool {
    available_in(pod, min_ready, now) == Some(0)
}

/// When the next of these pods will have been ready for long enough.
pub(super) fn next_available<'p>(
    pods: impl IntoIterator<Item = &'p Value>,
    min_ready: i64,
    now: Timestamp,
) -> Option<std::time::Duration> {
    let waiting = pods
        .into_iter()
        .filter_map(|pod| available_in(pod, min_ready, now));
    let next = waiting.filter(|seconds| *seconds > 0).min()?;
    Some(std::time::Duration::from_secs(next.unsigned_abs()))
}

/// The reference by which an object names its controller.
pub(super) fn controller_reference(noun: Noun, owner: &Value) -> Value {
    json!({
        "apiVersion": noun.api_version(),
        "kind": noun.kind,
        "name": meta::name(owner),
        "uid": meta::uid(owner),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// A pod as a template describes it, for a controller to name.
pub(super) fn from_template(template: &Value, noun: Noun, owner: &Value) -> Value {
    let mut metadata = json!({
        "namespace": meta::namespace(owner),
        "ownerReferences": [controller_reference(noun, owner)],
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    json!({"metadata": metadata, "spec": template["spec"]})
}
