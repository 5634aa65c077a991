//! Contexts, without their keys.

use crate::output::noun::{Column, Noun, column, wide};
use crate::remote::contexts::{Contexts, Credential, Place};

/// One context.
#[derive(Debug, Clone)]
pub(crate) struct ContextRow {
    name: String,
    place: Place,
    is_current: bool,
}

impl ContextRow {
    /// Every context.
    pub(crate) fn all(contexts: &Contexts) -> Vec<Self> {
        let row = |(name, place): (&String, &Place)| Self::new(contexts, name, place);
        contexts.contexts.iter().map(row).collect()
    }

    /// One of them.
    pub(crate) fn new(contexts: &Contexts, name: &str, place: &Place) -> Self {
        Self {
            name: name.to_owned(),
            place: place.clone(),
            is_current: contexts.current.as_deref() == Some(name),
        }
    }
}

impl Noun for ContextRow {
    const KIND: &'static str = "context";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("name", |row| row.name.as_str().into()),
            column("broker", |row| row.place.broker.as_str().into()),
            column("current", |row| row.is_current.into()),
            wide("key", |row| match &row.place.key {
                Credential::Text(_) => "kept here".into(),
                Credential::File(path) => path.display().to_string().into(),
            }),
            wide("ca file", |row| {
                let file = row.place.ca_file.as_ref();
                file.map(|path| path.display().to_string()).into()
            }),
        ]
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
