//! The writes that are still ahead, and which of them the server can have an opinion on already.

use std::collections::BTreeSet;

use evenkeel_reconcile::Action;
use evenkeel_reconcile::world::StepOf;

use crate::item::{Item, Sighting};
use crate::key::ObjectKey;
use crate::world::SetWorld;

/// A step that makes or changes something.
pub(crate) struct Write<'a> {
    pub(crate) key: &'a ObjectKey,
    pub(crate) item: &'a Item,
    /// The hash of what is wanted.
    pub(crate) version: u64,
    pub(crate) seen: Option<&'a Sighting>,
}

impl<'a> Write<'a> {
    fn of(step: &StepOf<'a, SetWorld<'_>>) -> Option<Self> {
        let (wanted, seen) = match &step.action {
            Action::Create { wanted, .. } => (wanted, None),
            Action::Update {
                wanted, observed, ..
            }
            | Action::Adopt { wanted, observed } => (wanted, Some(&observed.live)),
            Action::Delete { .. }
            | Action::Release { .. }
            | Action::Keep(_)
            | Action::Refuse(_) => return None,
        };
        Some(Self {
            key: step.key,
            item: &wanted.item,
            version: wanted.version,
            seen,
        })
    }
}

/// The writes that are still ahead.
pub(crate) struct Ahead<'a> {
    writes: Vec<Write<'a>>,
    definitions: BTreeSet<&'a ObjectKey>,
    namespaces: BTreeSet<&'a str>,
}

impl<'a> Ahead<'a> {
    pub(crate) fn of(steps: &[StepOf<'a, SetWorld<'_>>]) -> Self {
        let writes: Vec<_> = steps.iter().filter_map(Write::of).collect();
        // A definition that is changed may serve a version that it did not.
        let definitions = writes.iter().filter(|write| write.key.kind.is_definition());
        let new = writes.iter().filter(|write| write.seen.is_none());
        let namespaces = new.filter(|write| write.key.kind.is_namespace());
        Self {
            definitions: definitions.map(|write| write.key).collect(),
            namespaces: namespaces.map(|write| write.key.name.as_str()).collect(),
            writes,
        }
    }

    /// Those whose kind and namespace exist, or are about to be served.
    pub(crate) fn askable(&self) -> impl Iterator<Item = &Write<'a>> {
        self.writes.iter().filter(|write| {
            let inside = write.key.namespace.as_deref();
            let by = write.item.defined_by.as_ref();
            by.is_none_or(|by| !self.definitions.contains(by))
                && inside.is_none_or(|inside| !self.namespaces.contains(inside))
        })
    }
}
