//! Changes: what a revision would do to one object.

use evenkeel_model::{DiffChange, ObjectDiff, ObjectKey};

use super::object;
use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, data, wide};

/// One object that would change: in the stack, or in one agent's cluster.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) agent: Option<String>,
    pub(crate) diff: ObjectDiff,
}

impl Change {
    /// Which object.
    pub(crate) const fn object(&self) -> &ObjectKey {
        &self.diff.object
    }

    /// Whether anything would happen.
    pub(crate) fn is_one(&self) -> bool {
        self.diff.change != DiffChange::None
    }
}

impl Noun for Change {
    const KIND: &'static str = "change";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("agent", |change| change.agent.as_deref().into()),
            column("change", |change| change.diff.change.into()),
            wide("group", |change| change.object().group.as_str().into()),
            column("kind", |change| change.object().kind.as_str().into()),
            column("namespace", |change| {
                change.object().namespace.as_deref().into()
            }),
            column("name", |change| change.object().name.as_str().into()),
            column("message", |change| {
                change
                    .diff
                    .message
                    .clone()
                    .map_or(Cell::Nothing, Cell::Prose)
            }),
            data("before", |change| {
                Cell::Data(change.diff.before.clone().into())
            }),
            data("after", |change| {
                Cell::Data(change.diff.after.clone().into())
            }),
        ]
    }

    fn name(&self) -> String {
        let object = object::path(self.object());
        match &self.agent {
            Some(agent) => format!("{agent}/{object}"),
            None => object,
        }
    }
}
