//! What an event means to a client that selected some of the objects.

use crate::store::{Event, Object};

use super::Lens;

/// One change as a client sees it.
#[derive(Debug, PartialEq)]
pub(super) enum Transition {
    /// The object came to be, or came into the selection.
    Added(Object),
    /// The object changed within the selection.
    Modified(Object),
    /// The object went, or left the selection: what it last was, at the event's revision.
    Deleted(Object),
}

/// What `event` means through `lens`; nothing when the object is selected neither before nor
/// after.
pub(super) fn transition(event: &Event, lens: &dyn Lens) -> Option<Transition> {
    let selected = |object: &&Object| lens.selects(&event.key, object);
    let before = event.before.as_ref().filter(selected);
    let after = event.after.as_ref().filter(selected);
    match (before, after) {
        (None, None) => None,
        (None, Some(object)) => Some(Transition::Added(object.clone())),
        (Some(_), Some(object)) => Some(Transition::Modified(object.clone())),
        (Some(_), None) => event.departed().map(Transition::Deleted),
    }
}
