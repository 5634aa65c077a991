//! The Databases among the documents of `operator render`.

use anyhow::Context;
use evenkeel_database_operator::{Children, Database};
use evenkeel_manifest::{Document, Limits, parse};
use serde_json::Value;

use super::render::Input;
use crate::output::yaml;

/// The Databases among some documents, and whether there is anything else to render.
pub(super) struct Databases {
    found: Vec<Database>,
    others: bool,
}

impl Databases {
    /// Those in `texts` that `input` means.
    pub(super) fn among(texts: &[(String, String)], input: &Input) -> anyhow::Result<Self> {
        let mut all = Self {
            found: Vec::new(),
            others: false,
        };
        for (_, text) in texts {
            // What is no list of documents is in the form of kagent's golden files.
            match parse(text, Limits::NONE) {
                Ok(documents) => all.read(documents, input)?,
                Err(_) => all.others = true,
            }
        }
        Ok(all)
    }

    fn read(&mut self, documents: Vec<Document>, input: &Input) -> anyhow::Result<()> {
        for document in documents {
            let is = |field: &str, word: &str| document.object[field] == word;
            if is("apiVersion", "evenkeel.io/v1") && is("kind", "Database") {
                self.take(document, input)?;
            } else if is("kind", "Agent") {
                self.others = true;
            }
        }
        Ok(())
    }

    fn take(&mut self, document: Document, input: &Input) -> anyhow::Result<()> {
        let (id, object) = (document.id, Value::Object(document.object));
        let mut database: Database = serde_json::from_value(object)
            .with_context(|| format!("{id} is no Database that the operator understands"))?;
        let namespace = &mut database.metadata.namespace;
        *namespace = namespace.take().or_else(|| input.namespace.clone());
        if input.name.is_none() || input.name == database.metadata.name {
            self.found.push(database);
        }
        Ok(())
    }

    /// Whether there are some and nothing else.
    pub(super) fn are_all(&self) -> bool {
        !self.others && !self.found.is_empty()
    }

    /// What they become, as documents.
    pub(super) fn manifests(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        for database in &self.found {
            for object in Children::of(database).documents()? {
                text += &format!("---\n{}", yaml(&object));
            }
        }
        Ok(text)
    }
}
