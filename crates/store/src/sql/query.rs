//! One SQL text with its values, and the rows that come back.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Postgres, Row as _, Sqlite, Type, ValueRef};
use uuid::Uuid;

use super::Stored;
use crate::{Error, Result};

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

    /// Binds the next value as JSON text; what cannot be written is null.
    pub(crate) fn json(mut self, value: &impl Serialize) -> Self {
        let text = serde_json::to_string(value).ok();
        self.values.push(Value::Text(text));
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

    /// What a column holds as JSON text.
    pub(crate) fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T> {
        let text = self.get::<String>(column)?;
        serde_json::from_str(&text).map_err(|error| Error::Unreadable {
            column: column.to_owned(),
            source: Arc::new(error),
        })
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
