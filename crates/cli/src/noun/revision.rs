//! Revisions of a stack.

use evenkeel_api::DeploymentObject;
use evenkeel_manifest::{Limits, parse};

use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, data, wide};

/// As much of a checksum as people compare.
const SHORT: usize = 12;

/// One revision.
#[derive(Debug, Clone)]
pub(crate) struct RevisionRow {
    pub(crate) stack: String,
    pub(crate) object: DeploymentObject,
    /// Whether it is what agents are told now.
    pub(crate) is_newest: bool,
    /// The newest one with the same content, if that is another.
    pub(crate) same_as_newest: bool,
}

impl RevisionRow {
    fn objects(&self) -> Cell {
        let text = self.object.yaml_content.as_deref().unwrap_or_default();
        match parse(text, Limits::NONE) {
            Ok(documents) => documents.len().into(),
            Err(_) => Cell::Nothing,
        }
    }

    fn remark(&self) -> Cell {
        match (self.is_newest, self.same_as_newest) {
            (true, _) => "newest".into(),
            (false, true) => "same content as the newest".into(),
            (false, false) => Cell::Nothing,
        }
    }
}

impl Noun for RevisionRow {
    const KIND: &'static str = "revision";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("revision", |row| row.object.sequence_id.into()),
            column("kind", |row| row.object.kind.into()),
            column("objects", Self::objects),
            column("submitted", |row| row.object.submitted_at.into()),
            column("content", |row| {
                row.object.yaml_checksum.as_str()[..SHORT].into()
            }),
            column("remark", Self::remark),
            wide("stack", |row| row.stack.as_str().into()),
            wide("id", |row| Cell::text(row.object.id)),
            data("checksum", |row| row.object.yaml_checksum.as_str().into()),
            data("yaml", |row| row.object.yaml_content.clone().into()),
        ]
    }

    fn name(&self) -> String {
        self.object.sequence_id.to_string()
    }
}
