//! Leases: which broker does a piece of background work.

use std::time::Duration;

use async_trait::async_trait;
use evenkeel_model::Lease;
use futures::FutureExt;
use jiff::Timestamp;

use crate::Result;
use crate::database::Database;
use crate::sql::{Row, sql};
use crate::transaction::Transaction;

/// Which broker does a piece of background work. Time is each broker's own: a lease keeps two
/// from doing the same work needlessly, and work that must not be done twice checks its term.
#[async_trait]
pub trait Leases {
    /// Takes the work, or goes on with it, for `length`. `None`: somebody else does it.
    async fn lease_acquire(
        &self,
        name: &str,
        holder: &str,
        length: Duration,
    ) -> Result<Option<Lease>>;

    /// Gives the work back early.
    async fn lease_release(&self, lease: &Lease) -> Result<()>;
}

#[async_trait]
impl Leases for Database {
    async fn lease_acquire(
        &self,
        name: &str,
        holder: &str,
        length: Duration,
    ) -> Result<Option<Lease>> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        self.write(move |tx| async move { acquire(tx, name, holder, length).await }.boxed())
            .await
    }

    async fn lease_release(&self, lease: &Lease) -> Result<()> {
        let lease = lease.clone();
        self.write(move |tx| async move { release(tx, &lease).await }.boxed())
            .await
    }
}

async fn acquire(
    tx: &mut Transaction,
    name: String,
    holder: String,
    length: Duration,
) -> Result<Option<Lease>> {
    let now = tx.now();
    let query = sql("SELECT * FROM leases WHERE name = $1").bind(&name);
    let old = tx.one(query).await?.as_ref().map(lease).transpose()?;
    let term = match &old {
        Some(old) if old.holder == holder && old.expires_at > now => old.term,
        Some(old) if old.expires_at > now => return Ok(None),
        Some(old) => old.term + 1,
        None => 1,
    };
    let expires_at = now.saturating_add(length).unwrap_or(Timestamp::MAX);
    let lease = Lease {
        name,
        holder,
        term,
        expires_at,
    };
    save(tx, &lease).await?;
    Ok(Some(lease))
}

async fn save(tx: &mut Transaction, lease: &Lease) -> Result<()> {
    let query = sql(
        "INSERT INTO leases (name, holder, term, expires_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, term = excluded.term, \
             expires_at = excluded.expires_at",
    )
    .bind(&lease.name)
    .bind(&lease.holder)
    .bind(&lease.term)
    .bind(&lease.expires_at);
    tx.run(query).await.map(drop)
}

async fn release(tx: &mut Transaction, lease: &Lease) -> Result<()> {
    // The row stays, so that terms go on growing.
    let query = sql("UPDATE leases SET expires_at = $3 WHERE name = $1 AND term = $2")
        .bind(&lease.name)
        .bind(&lease.term)
        .bind(&tx.now());
    tx.run(query).await.map(drop)
}

fn lease(row: &Row) -> Result<Lease> {
    Ok(Lease {
        name: row.get("name")?,
        holder: row.get("holder")?,
        term: row.get("term")?,
        expires_at: row.get("expires_at")?,
    })
}
