//! The change feed: how brokers keep their caches true.
//!
//! The table of changes is the truth. Everything else (a notification from another broker, the
//! local writer's own word, the occasional look) only raises the *newest change number*, which
//! wakes readers; they then read the table from where they were. Numbers are dense, so a reader
//! whose next number is gone knows that it must load everything again.

use std::time::Duration;

use async_trait::async_trait;
use evenkeel_model::{Change, ChangeNumber, Subject};
use jiff::Timestamp;
use sqlx::postgres::PgListener;
use tokio::sync::watch;
use uuid::Uuid;

use crate::database::Database;
use crate::sql::{Pools, Query, Row, sql};
use crate::writer::raise;
use crate::{Error, Result};

/// The PostgreSQL channel on which brokers hear of each other's changes.
pub(crate) const CHANNEL: &str = "evenkeel_changes";
/// A connection may die without a word; so often we look for ourselves.
const LOOK: Duration = Duration::from_secs(5);

/// What happened since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// These changes, in order, without holes.
    Changes(Vec<Change>),
    /// More than is remembered: load everything again.
    TooLongAgo,
}

/// The changes that caches follow.
#[async_trait]
pub trait Changes {
    /// The newest change that is known here; wakes up when there is a newer one, whoever made it.
    fn change_newest(&self) -> watch::Receiver<ChangeNumber>;

    /// At most `limit` changes after `seen`, oldest first.
    async fn changes_since(&self, seen: ChangeNumber, limit: u32) -> Result<Since>;
}

#[async_trait]
impl Changes for Database {
    fn change_newest(&self) -> watch::Receiver<ChangeNumber> {
        self.newest()
    }

    async fn changes_since(&self, seen: ChangeNumber, limit: u32) -> Result<Since> {
        let mut snapshot = self.snapshot().await?;
        let newest = newest_in(&mut snapshot).await?;
        let query = sql("SELECT * FROM changes WHERE number > $1 ORDER BY number LIMIT $2")
            .bind(&seen)
            .bind(&i64::from(limit));
        let rows = snapshot.all(query).await?;
        let changes = rows.iter().map(change).collect::<Result<Vec<_>>>()?;
        let whole = match changes.first() {
            Some(first) => first.number == seen.next(),
            None => newest <= seen,
        };
        Ok(if whole {
            Since::Changes(changes)
        } else {
            Since::TooLongAgo
        })
    }
}

/// The newest change as of the connection's moment.
pub(crate) async fn newest_in(connection: &mut crate::sql::Connection) -> Result<ChangeNumber> {
    let row = connection
        .one(sql("SELECT change_number FROM ledger"))
        .await?;
    row.ok_or_else(|| Error::not_found("ledger", &1))?
        .get("change_number")
}

/// Raises `newest` whenever another process commits a change. Ends with the pool.
pub(crate) async fn follow(
    pools: Pools,
    mut listener: Option<PgListener>,
    newest: watch::Sender<ChangeNumber>,
) {
    loop {
        match tokio::time::timeout(LOOK, hear(&mut listener)).await {
            Ok(Ok(Some(change))) => {
                raise(&newest, change);
                continue;
            }
            Ok(Err(sqlx::Error::PoolClosed)) => return,
            Ok(Err(error)) => {
                tracing::warn!(%error, "lost the change notifications; reading the ledger instead");
                tokio::time::sleep(LOOK).await;
            }
            // Reconnected, or silence: something may have been missed either way.
            Ok(Ok(None)) | Err(_) => {}
        }
        match look(&pools).await {
            Ok(change) => raise(&newest, change),
            Err(error) => tracing::warn!(%error, "could not read the newest change number"),
        }
    }
}

/// The next number that another process announces; `None` after an interruption. SQLite has no
/// announcements.
async fn hear(listener: &mut Option<PgListener>) -> sqlx::Result<Option<ChangeNumber>> {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    let note = listener.try_recv().await?;
    Ok(note.map(|note| note.payload().parse().unwrap_or_default()))
}

async fn look(pools: &Pools) -> Result<ChangeNumber> {
    newest_in(&mut pools.reader().await?).await
}

pub(crate) fn insert(number: ChangeNumber, at: Timestamp, subject: Subject) -> Query {
    let (noun, id, other): (&str, Uuid, Option<Uuid>) = match subject {
        Subject::Generator { id } => ("generator", id.0, None),
        Subject::Agent { id } => ("agent", id.0, None),
        Subject::Stack { id } => ("stack", id.0, None),
        Subject::Assignment { agent_id, stack_id } => ("assignment", agent_id.0, Some(stack_id.0)),
        Subject::Key { id } => ("key", id.0, None),
        Subject::Webhook { id } => ("webhook", id.0, None),
    };
    sql("INSERT INTO changes (number, at, noun, id, other_id) VALUES ($1, $2, $3, $4, $5)")
        .bind(&number)
        .bind(&at)
        .bind(&noun.to_owned())
        .bind(&id)
        .bind(&other)
}

fn change(row: &Row) -> Result<Change> {
    Ok(Change {
        number: row.get("number")?,
        at: row.get("at")?,
        subject: subject(row)?,
    })
}

fn subject(row: &Row) -> Result<Subject> {
    Ok(match row.get::<String>("noun")?.as_str() {
        "generator" => Subject::Generator { id: row.get("id")? },
        "agent" => Subject::Agent { id: row.get("id")? },
        "stack" => Subject::Stack { id: row.get("id")? },
        "assignment" => Subject::Assignment {
            agent_id: row.get("id")?,
            stack_id: row.get("other_id")?,
        },
        "key" => Subject::Key { id: row.get("id")? },
        "webhook" => Subject::Webhook { id: row.get("id")? },
        other => return Err(Error::not_found("noun", &other)),
    })
}
