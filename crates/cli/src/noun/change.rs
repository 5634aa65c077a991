//! Changes: what a revision would do to one object.

use evenkeel_manifest::Identity;
use serde_json::Value;

use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, data};
use crate::output::tone::Tone;

/// What becomes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Create,
    Update,
    Delete,
}

impl ChangeKind {
    /// The word and how it strikes the eye.
    pub(crate) const fn word(self) -> (&'static str, Tone) {
        match self {
            Self::Create => ("create", Tone::Good),
            Self::Update => ("update", Tone::Notice),
            Self::Delete => ("delete", Tone::Bad),
        }
    }
}

/// One object that would change.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) id: Identity,
    pub(crate) kind: ChangeKind,
    pub(crate) before: Option<Value>,
    pub(crate) after: Option<Value>,
}

impl Noun for Change {
    const KIND: &'static str = "change";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("change", |change| {
                let (word, tone) = change.kind.word();
                Cell::Word(word.to_owned(), tone)
            }),
            column("api_version", |change| change.id.api_version().into()),
            column("kind", |change| change.id.kind.as_str().into()),
            column("namespace", |change| change.id.namespace.as_deref().into()),
            column("name", |change| change.id.name.as_str().into()),
            data("before", |change| Cell::Data(change.before.clone().into())),
            data("after", |change| Cell::Data(change.after.clone().into())),
        ]
    }

    fn name(&self) -> String {
        match &self.id.namespace {
            Some(namespace) => format!("{}/{namespace}/{}", self.id.kind, self.id.name),
            None => format!("{}/{}", self.id.kind, self.id.name),
        }
    }
}
