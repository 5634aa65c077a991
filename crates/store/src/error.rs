//! What can go wrong, in words that do not depend on the database.

use std::sync::Arc;

use evenkeel_model::{AgentId, GeneratorId, SequenceId, StackId};
use sqlx::error::ErrorKind;

/// The result of anything that touches the store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the store could not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such thing (any more).
    #[error("there is no {noun} {id}")]
    NotFound {
        /// What was looked for.
        noun: &'static str,
        /// Which.
        id: String,
    },
    /// Something with this name (or other unique property) exists.
    #[error("this already exists ({constraint})")]
    Conflict {
        /// The constraint, named `table_column_column_key`.
        constraint: String,
    },
    /// Something that was referred to does not exist.
    #[error("what is referred to does not exist ({constraint})")]
    MissingReference {
        /// The constraint, named `table_column_fkey`.
        constraint: String,
    },
    /// The stack has moved on since the caller looked.
    #[error(
        "expected {expected:?} to be the newest revision of stack {stack}, but it is {newest:?}"
    )]
    Stale {
        /// Which stack.
        stack: StackId,
        /// What the caller expected.
        expected: Option<SequenceId>,
        /// What is there.
        newest: Option<SequenceId>,
    },
    /// The idempotency key was used for something else.
    #[error("idempotency key `{key}` was used on stack {stack} for other content")]
    KeyReused {
        /// Which stack.
        stack: StackId,
        /// The key.
        key: String,
    },
    /// The agent has not agreed to serve the generator.
    #[error("agent {agent} is not registered with generator {generator}")]
    NotRegistered {
        /// Which agent.
        agent: AgentId,
        /// Which generator.
        generator: GeneratorId,
    },
    /// The agent reports on a stack that was never given to it.
    #[error("stack {stack} is not assigned to agent {agent}")]
    NotAssigned {
        /// Which agent.
        agent: AgentId,
        /// Which stack.
        stack: StackId,
    },
    /// Objects cannot be taken over from this stack.
    #[error(
        "stack {stack} cannot take objects over from stack {from}: it is its own, or another's"
    )]
    NoTakeover {
        /// Which stack.
        stack: StackId,
        /// From which.
        from: StackId,
    },
    /// No agent waits for this approval.
    #[error("no agent waits for an approval of stack {0}")]
    NothingWaits(StackId),
    /// More is asked at once than anybody could answer.
    #[error("{open} questions about stack {stack} are open already")]
    TooManyDiffs {
        /// About which stack.
        stack: StackId,
        /// How many.
        open: i64,
    },
    /// The broker's own generator cannot be deleted.
    #[error("generator {0} belongs to the broker and cannot be deleted")]
    SystemGenerator(GeneratorId),
    /// Somebody else holds the lease by now.
    #[error("{holder} no longer holds the lease on {what}")]
    LeaseLost {
        /// Who thought so.
        holder: String,
        /// On what.
        what: String,
    },
    /// The commit was sent and no answer came: it may or may not have happened.
    #[error("the outcome of the commit is unknown")]
    OutcomeUnknown(#[source] Arc<sqlx::Error>),
    /// A stored value is not what this version of the program wrote.
    #[error("stored {column} cannot be read")]
    Unreadable {
        /// Where.
        column: String,
        /// Why.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// The database could not be reached or refused a statement.
    #[error("the database failed")]
    Database(#[source] Arc<sqlx::Error>),
    /// The schema could not be brought up to date.
    #[error("the schema could not be migrated")]
    Migration(#[source] Arc<sqlx::migrate::MigrateError>),
    /// The address names no database that is supported.
    #[error(
        "`{0}` is not a database address: use sqlite://PATH, sqlite::memory: or postgres://..."
    )]
    Address(String),
    /// A write met a fault of the program; nothing of it was kept.
    #[error("the write was abandoned because of an internal fault")]
    Panicked,
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl Error {
    pub(crate) fn not_found(noun: &'static str, id: &impl ToString) -> Self {
        Self::NotFound {
            noun,
            id: id.to_string(),
        }
    }

    pub(crate) fn missing(constraint: &str) -> Self {
        Self::MissingReference {
            constraint: constraint.to_owned(),
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let Some(refusal) = error.as_database_error() else {
            return Self::Database(Arc::new(error));
        };
        let constraint = constraint_name(refusal);
        match refusal.kind() {
            ErrorKind::UniqueViolation => Self::Conflict { constraint },
            ErrorKind::ForeignKeyViolation => Self::MissingReference { constraint },
            _ => Self::Database(Arc::new(error)),
        }
    }
}

impl From<sqlx::migrate::MigrateError> for Error {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        Self::Migration(Arc::new(error))
    }
}

/// PostgreSQL names the constraint. SQLite names the columns, from which our naming rule gives
/// the same name.
fn constraint_name(refusal: &dyn sqlx::error::DatabaseError) -> String {
    match refusal.constraint() {
        Some(name) => name.to_owned(),
        None => named_after_columns(refusal.message()),
    }
}

fn named_after_columns(message: &str) -> String {
    let Some((_, columns)) = message.split_once("failed: ") else {
        return "foreign_key".to_owned();
    };
    let mut name = String::new();
    for column in columns.split(", ") {
        let (table, column) = column.split_once('.').unwrap_or(("", column));
        if name.is_empty() {
            name.push_str(table);
        }
        name.push('_');
        name.push_str(column);
    }
    name + "_key"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_violations_get_the_names_that_postgres_uses() {
        let message = "UNIQUE constraint failed: stacks.generator_id, stacks.name";
        assert_eq!(named_after_columns(message), "stacks_generator_id_name_key");
        assert_eq!(
            named_after_columns("FOREIGN KEY constraint failed"),
            "foreign_key"
        );
    }
}
