//! Generators: the tenants.

use evenkeel_api::Generator;

use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, data, wide};

/// A generator.
#[derive(Debug, Clone)]
pub(crate) struct GeneratorRow {
    pub(crate) generator: Generator,
    /// Shown once, when it is made.
    pub(crate) key: Option<String>,
}

impl From<Generator> for GeneratorRow {
    fn from(generator: Generator) -> Self {
        Self {
            generator,
            key: None,
        }
    }
}

impl Noun for GeneratorRow {
    const KIND: &'static str = "generator";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("name", |row| (&row.generator.name).into()),
            column("active", |row| row.generator.is_active.into()),
            column("used", |row| row.generator.last_active_at.into()),
            column("created", |row| row.generator.created_at.into()),
            column("description", |row| {
                row.generator.description.clone().into()
            }),
            wide("system", |row| row.generator.is_system.into()),
            wide("id", |row| Cell::text(row.generator.id)),
            data("key", |row| row.key.clone().into()),
        ]
    }

    fn name(&self) -> String {
        self.generator.name.to_string()
    }
}
