//! What can be listed: a noun and its columns.

use serde_json::{Map, Value};

use super::cell::Cell;

/// Something that can be shown in every form.
pub(crate) trait Noun: Sized {
    /// What one of them is called.
    const KIND: &'static str;

    /// What there is to say of one. Declared here once; every form takes it from here.
    fn columns() -> Vec<Column<Self>>;

    /// What this one is called.
    fn name(&self) -> String;
}

/// One thing to say of a noun.
pub(crate) struct Column<N> {
    /// What programs call it; people see it in capitals.
    pub(super) key: &'static str,
    pub(super) seen: Seen,
    pub(super) cell: fn(&N) -> Cell,
}

/// Where a column is shown. Programs always get all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Always,
    Wide,
    ByPrograms,
}

/// A column that everybody sees.
pub(crate) const fn column<N>(key: &'static str, cell: fn(&N) -> Cell) -> Column<N> {
    Column {
        key,
        seen: Seen::Always,
        cell,
    }
}

/// A column for wide screens.
pub(crate) const fn wide<N>(key: &'static str, cell: fn(&N) -> Cell) -> Column<N> {
    Column {
        key,
        seen: Seen::Wide,
        cell,
    }
}

/// A column that only programs see.
pub(crate) const fn data<N>(key: &'static str, cell: fn(&N) -> Cell) -> Column<N> {
    Column {
        key,
        seen: Seen::ByPrograms,
        cell,
    }
}

/// Everything that there is to say of one, for programs.
pub(crate) fn record<N: Noun>(row: &N) -> Value {
    let field = |column: Column<N>| (column.key.to_owned(), (column.cell)(row).value());
    N::columns()
        .into_iter()
        .map(field)
        .collect::<Map<_, _>>()
        .into()
}
