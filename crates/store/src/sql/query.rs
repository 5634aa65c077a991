//! One SQL text with its values, and the rows that come back.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Postgres, Row as _, Sqlite, Type, ValueRef};
use uuid::Uuid;

use super::Stored;
use crate::Result;

/// A value on its way into the database. `None` is a null that knows its type.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Boolean(Option<bool>),
    Text(Option<String>),
    Uuid(Option<Uuid>),
    Bytes(Option<Vec<u8>>),
}

/// A statement with its values.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(super) text: &'static str,
    pub(super) values: Vec<Value>,
}

/// Begins a statement; values follow with [`Query::bind`], the first for `$1`.
pub(crate) const fn sql(text: &'static str) -> Query {
    Query {
        text,
        values: Vec::new(),
    }
}

impl Query {
    /// Binds the next value.
    pub(crate) fn bind(mut self, value: &impl Stored) -> Self {
        self.values.push(value.store());
        self
    }
}

/// A row of either database.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// The value of a column.
    pub(crate) fn get<T: Stored>(&self, column: &str) -> Result<T> {
        T::load(self, column)
    }

    pub(super) fn is_null(&self, column: &str) -> Result<bool> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get_raw(column)?.is_null(),
            Self::Postgres(row) => row.try_get_raw(column)?.is_null(),
        })
    }

    pub(super) fn plain<T>(&self, column: &str) -> Result<T>
    where
        T: for<'r> Decode<'r, Sqlite>
            + Type<Sqlite>
            + for<'r> Decode<'r, Postgres>
            + Type<Postgres>,
    {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }
}
