//! One write transaction: the numbers it hands out and the traces it leaves.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use evenkeel_ambient::SharedRandom;
use evenkeel_model::{ChangeNumber, SequenceId, Subject};
use jiff::Timestamp;
use uuid::Uuid;

use crate::feed;
use crate::sql::{Connection, Pools, sql};
use crate::{Error, Result};

/// The last numbers that were handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ledger {
    change: ChangeNumber,
    sequence: SequenceId,
    position: i64,
}

/// A write transaction. It holds the ledger's lock, so nobody else is writing.
pub(crate) struct Transaction {
    connection: Connection,
    began: Ledger,
    ledger: Ledger,
    now: Timestamp,
    random: SharedRandom,
}

impl Transaction {
    pub(crate) async fn begin(pools: &Pools, now: Timestamp, random: SharedRandom) -> Result<Self> {
        let mut connection = pools.writer().await?;
        let query = sql(connection.lock_ledger());
        let row = connection
            .one(query)
            .await?
            .ok_or_else(|| Error::not_found("ledger", &1))?;
        let ledger = Ledger {
            change: row.get("change_number")?,
            sequence: row.get("sequence_id")?,
            position: row.get("position")?,
        };
        // What is stored has microseconds; what is returned must be the same.
        let now = Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now);
        Ok(Self {
            connection,
            began: ledger,
            ledger,
            now,
            random,
        })
    }

    /// The moment of this write.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// A new id.
    pub(crate) fn id<T: From<Uuid>>(&self) -> T {
        self.random.uuid().into()
    }

    /// The next place in lists.
    pub(crate) const fn position(&mut self) -> i64 {
        self.ledger.position += 1;
        self.ledger.position
    }

    /// The next sequence id.
    pub(crate) const fn sequence(&mut self) -> SequenceId {
        self.ledger.sequence = self.ledger.sequence.next();
        self.ledger.sequence
    }

    /// Lets every broker's cache know that it must look again.
    pub(crate) async fn changed(&mut self, subject: Subject) -> Result<()> {
        self.ledger.change = self.ledger.change.next();
        let query = feed::insert(self.ledger.change, self.now, subject);
        self.run(query).await?;
        Ok(())
    }

    /// A point to return to.
    pub(crate) async fn mark(&mut self) -> Result<Ledger> {
        self.command("SAVEPOINT job").await?;
        Ok(self.ledger)
    }

    /// Forgets the point: what was done since stays.
    pub(crate) async fn keep(&mut self) -> Result<()> {
        self.command("RELEASE SAVEPOINT job").await
    }

    /// Returns to the point. The numbers go back too, so that there are no holes.
    pub(crate) async fn undo_to(&mut self, mark: Ledger) -> Result<()> {
        self.ledger = mark;
        self.command("ROLLBACK TO SAVEPOINT job; RELEASE SAVEPOINT job")
            .await
    }

    /// Makes everything durable and visible at once.
    pub(crate) async fn commit(mut self) -> Result<ChangeNumber> {
        if self.ledger != self.began {
            self.save_ledger().await?;
        }
        if self.ledger.change != self.began.change {
            self.announce_change().await?;
        }
        let change = self.ledger.change;
        match self.connection.commit().await {
            Ok(()) => Ok(change),
            Err(refused) if refused.as_database_error().is_some() => Err(refused.into()),
            Err(lost) => Err(Error::OutcomeUnknown(Arc::new(lost))),
        }
    }

    async fn save_ledger(&mut self) -> Result<()> {
        let Ledger {
            change,
            sequence,
            position,
        } = self.ledger;
        let query = sql("UPDATE ledger SET change_number = $1, sequence_id = $2, position = $3")
            .bind(&change)
            .bind(&sequence)
            .bind(&position);
        self.run(query).await?;
        Ok(())
    }

    async fn announce_change(&mut self) -> Result<()> {
        let Some(query) = self.connection.announcement() else {
            return Ok(());
        };
        let query = query
            .bind(&feed::CHANNEL.to_owned())
            .bind(&self.ledger.change.to_string());
        self.all(query).await?;
        Ok(())
    }
}

impl Deref for Transaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
