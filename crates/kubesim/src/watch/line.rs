//! The lines of a watch, one JSON object each.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::status::ApiError;
use crate::store::{Event, Expired, Object, Revision};

use super::Lens;
use super::transition::{Transition, transition};

/// Writes what `event` means through `lens`, if anything.
pub(super) fn event(out: &mut Vec<u8>, event: &Event, lens: &dyn Lens) {
    match transition(event, lens) {
        None => {}
        Some(Transition::Added(object)) => added(out, &object, lens),
        Some(Transition::Modified(object)) => object_line(out, "MODIFIED", &object, lens),
        Some(Transition::Deleted(object)) => object_line(out, "DELETED", &object, lens),
    }
}

/// Writes that `object` is there.
pub(super) fn added(out: &mut Vec<u8>, object: &Object, lens: &dyn Lens) {
    object_line(out, "ADDED", object, lens);
}

/// Writes that everything up to `revision` has been told; at the end of the initial events with
/// the mark that says so.
pub(super) fn bookmark(out: &mut Vec<u8>, revision: Revision, end_of_state: bool, lens: &dyn Lens) {
    let (api_version, kind) = lens.kind();
    let mut metadata = json!({ "resourceVersion": revision.to_string() });
    if end_of_state {
        metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
    }
    let object = json!({ "kind": kind, "apiVersion": api_version, "metadata": metadata });
    line(out, "BOOKMARK", &object);
}

/// Writes that the watch cannot start where the client wants it to.
pub(super) fn expired(out: &mut Vec<u8>, expired: &Expired) {
    let status = ApiError::expired(expired.to_string()).to_status();
    line(out, "ERROR", &status);
}

fn object_line(out: &mut Vec<u8>, kind: &str, object: &Object, lens: &dyn Lens) {
    match lens.show(object) {
        Cow::Borrowed(shown) => line(out, kind, shown),
        Cow::Owned(shown) => line(out, kind, &shown),
    }
}

fn line(out: &mut Vec<u8>, kind: &str, object: &Value) {
    out.extend_from_slice(br#"{"type":""#);
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(br#"","object":"#);
    // Writing a value to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, object);
    out.extend_from_slice(b"}\n");
}
