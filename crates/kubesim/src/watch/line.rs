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
        Some(Transition::Added(object)) => current(out, "ADDED", event, &object, lens),
        Some(Transition::Modified(object)) => current(out, "MODIFIED", event, &object, lens),
        Some(Transition::Deleted(object)) => line(out, "DELETED", &lens.show(&object)),
    }
}

/// Writes that `object` is there.
pub(super) fn added(out: &mut Vec<u8>, object: &Object, lens: &dyn Lens) {
    line(out, "ADDED", &lens.show(object));
}

/// Writes the object that an event left. Who wants it just as it is stored shares the text with
/// everybody else who does.
fn current(out: &mut Vec<u8>, kind: &str, event: &Event, object: &Object, lens: &dyn Lens) {
    match (lens.show(object), event.written()) {
        (Cow::Borrowed(_), Some(written)) => {
            frame(out, kind, |out| out.extend_from_slice(written));
        }
        (shown, _) => line(out, kind, &shown),
    }
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
    line(out, "BOOKMARK", &lens.show_bookmark(object));
}

/// Writes that the watch cannot start where the client wants it to.
pub(super) fn expired(out: &mut Vec<u8>, expired: &Expired) {
    let status = ApiError::expired(expired.to_string()).to_status();
    line(out, "ERROR", &status);
}

fn line(out: &mut Vec<u8>, kind: &str, object: &Value) {
    frame(out, kind, |out| {
        // Writing a value to memory cannot fail.
        let _ = serde_json::to_writer(out, object);
    });
}

fn frame(out: &mut Vec<u8>, kind: &str, object: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(br#"{"type":""#);
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(br#"","object":"#);
    object(out);
    out.extend_from_slice(b"}\n");
}
