//! Drift: what others changed in the clusters.

use evenkeel_api::FoundDrift;

use super::object;
use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, wide};
use crate::output::tone::Tone;

/// One finding with the names of where it is.
#[derive(Debug, Clone)]
pub(crate) struct DriftRow {
    pub(crate) agent: String,
    pub(crate) stack: String,
    pub(crate) found: FoundDrift,
}

impl DriftRow {
    /// What was changed of the object.
    fn fields(&self) -> Cell {
        match self.found.record.fields.as_slice() {
            [] => Cell::Word("the whole object".to_owned(), Tone::Notice),
            fields => Cell::Prose(fields.join(", ")),
        }
    }

    fn repaired(&self) -> Cell {
        match self.found.record.repaired {
            true => Cell::Word("repaired".to_owned(), Tone::Good),
            false => Cell::Word("left".to_owned(), Tone::Notice),
        }
    }
}

impl Noun for DriftRow {
    const KIND: &'static str = "drift record";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("found", |row| row.found.record.at.into()),
            column("agent", |row| row.agent.as_str().into()),
            column("stack", |row| row.stack.as_str().into()),
            column("object", |row| {
                object::shown(&row.found.record.object).into()
            }),
            column("changed", Self::fields),
            column("by", |row| row.found.record.manager.as_deref().into()),
            column("now", Self::repaired),
            wide("mode", |row| Cell::text(row.found.record.mode)),
            wide("group", |row| row.found.record.object.group.as_str().into()),
        ]
    }

    fn name(&self) -> String {
        let object = object::path(&self.found.record.object);
        format!("{}/{}/{object}", self.stack, self.agent)
    }
}
