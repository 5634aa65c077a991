//! One change of one object.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::{Key, Object, Revision};

/// One change of one object: what was there before, what is there now.
#[derive(Debug)]
pub struct Event {
    /// The revision that the change made.
    pub revision: Revision,
    /// Whom it happened to.
    pub key: Key,
    /// The object before; `None` when the change created it.
    pub before: Option<Object>,
    /// The object after; `None` when the change deleted it.
    pub after: Option<Object>,
    departed: OnceLock<Object>,
    /// How many listen to the event.
    pub(super) audience: usize,
    written: OnceLock<Box<[u8]>>,
}

impl Event {
    pub(super) fn new(
        revision: Revision,
        key: Key,
        before: Option<Object>,
        after: Option<Object>,
    ) -> Self {
        Self {
            revision,
            key,
            before,
            after,
            departed: OnceLock::new(),
            audience: 0,
            written: OnceLock::new(),
        }
    }

    /// This event and a `later` one of the same object, as one.
    pub(crate) fn then(&self, later: &Self) -> Self {
        Self::new(
            later.revision,
            self.key.clone(),
            self.before.clone(),
            later.after.clone(),
        )
    }

    /// [`Event::after`] as JSON, written once for everybody; `None` when hardly anybody listens
    /// and keeping the text would only cost memory.
    pub(crate) fn written(&self) -> Option<&[u8]> {
        let after = self.after.as_ref().filter(|_| self.audience > 1)?;
        let write = || serde_json::to_vec(after).unwrap_or_default().into();
        Some(self.written.get_or_init(write))
    }

    /// The object as it was last seen, at this event's revision: what a watcher is told when the
    /// object goes, be it from the cluster or from the watcher's selection.
    pub fn departed(&self) -> Option<Object> {
        let before = self.before.as_ref()?;
        Some(
            self.departed
                .get_or_init(|| at_revision(before, self.revision))
                .clone(),
        )
    }
}

/// A copy of `object` that says it is of `revision`.
fn at_revision(object: &Value, revision: Revision) -> Object {
    let mut copy = object.clone();
    stamp(&mut copy, revision);
    Arc::new(copy)
}

/// Writes `revision` into `object`.
pub(super) fn stamp(object: &mut Value, revision: Revision) {
    if let Some(fields) = object.as_object_mut() {
        let metadata = fields
            .entry("metadata")
            .or_insert_with(|| Value::Object(Default::default()));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert(
                "resourceVersion".into(),
                Value::String(revision.to_string()),
            );
        }
    }
}

/// The revision that `object` says it is of.
pub(super) fn revision_of(object: &Value) -> Option<Revision> {
    object
        .get("metadata")?
        .get("resourceVersion")?
        .as_str()?
        .parse()
        .ok()
}
