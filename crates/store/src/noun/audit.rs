//! The audit log.

use async_trait::async_trait;
use evenkeel_model::{Action, Actor, ActorKind, AuditEntry, AuditId, Page, Paging};
use futures::FutureExt;
use serde_json::Value;
use uuid::Uuid;

use crate::Result;
use crate::database::Database;
use crate::page::{self, From};
use crate::sql::{Row, sql};
use crate::transaction::Transaction;

/// Which lines are wanted; nothing set means all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Those of this kind of actor.
    pub actor_kind: Option<ActorKind>,
    /// Those of this actor.
    pub actor_id: Option<Uuid>,
    /// Those about this action.
    pub action: Option<Action>,
    /// Those about this thing.
    pub resource_id: Option<Uuid>,
}

/// Who did what. Every change of the store writes its own line; this is for the rest.
#[async_trait]
pub trait Audit {
    /// Notes something that changed nothing here, such as a key that was refused.
    async fn audit_record(
        &self,
        by: &Actor,
        action: Action,
        resource: Option<Uuid>,
        details: Option<Value>,
    ) -> Result<()>;

    /// The lines, newest first.
    async fn audit_list(&self, filter: AuditFilter, paging: Paging) -> Result<Page<AuditEntry>>;

    /// How many lines there are.
    async fn audit_count(&self, filter: AuditFilter) -> Result<u64>;
}

#[async_trait]
impl Audit for Database {
    async fn audit_record(
        &self,
        by: &Actor,
        action: Action,
        resource: Option<Uuid>,
        details: Option<Value>,
    ) -> Result<()> {
        let by = by.clone();
        self.write(move |tx| {
            async move { insert(tx, &by, action, resource, details.as_ref()).await }.boxed()
        })
        .await
    }

    async fn audit_list(&self, filter: AuditFilter, paging: Paging) -> Result<Page<AuditEntry>> {
        let query = sql("SELECT * FROM audit_log WHERE position < $1 \
             AND ($3 IS NULL OR actor_type = $3) AND ($4 IS NULL OR actor_id = $4) \
             AND ($5 IS NULL OR action = $5) AND ($6 IS NULL OR resource_id = $6) \
             ORDER BY position DESC LIMIT $2");
        let query = page::bind(query, paging, From::Newest)
            .bind(&filter.actor_kind)
            .bind(&filter.actor_id)
            .bind(&filter.action)
            .bind(&filter.resource_id);
        self.page(query, paging, "position", entry).await
    }

    async fn audit_count(&self, filter: AuditFilter) -> Result<u64> {
        let query = sql("SELECT COUNT(*) AS lines FROM audit_log \
             WHERE ($1 IS NULL OR actor_type = $1) AND ($2 IS NULL OR actor_id = $2) \
             AND ($3 IS NULL OR action = $3) AND ($4 IS NULL OR resource_id = $4)")
        .bind(&filter.actor_kind)
        .bind(&filter.actor_id)
        .bind(&filter.action)
        .bind(&filter.resource_id);
        let lines: Option<i64> = self.one(query, |row| row.get("lines")).await?;
        Ok(lines.unwrap_or(0).unsigned_abs())
    }
}

/// Writes a line in the transaction of what it is about.
pub(crate) async fn insert(
    tx: &mut Transaction,
    by: &Actor,
    action: Action,
    resource: Option<Uuid>,
    details: Option<&Value>,
) -> Result<()> {
    let (id, now, position): (AuditId, _, _) = (tx.id(), tx.now(), tx.position());
    let query = sql(
        "INSERT INTO audit_log (id, position, timestamp, actor_type, actor_id, \
             ip_address, user_agent, action, resource_type, resource_id, details) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(&id)
    .bind(&position)
    .bind(&now)
    .bind(&by.kind)
    .bind(&by.id)
    .bind(&by.ip_address)
    .bind(&by.user_agent)
    .bind(&action)
    .bind(&action.noun().to_owned())
    .bind(&resource)
    .bind(&details.cloned());
    tx.run(query).await.map(drop)
}

fn entry(row: &Row) -> Result<AuditEntry> {
    Ok(AuditEntry {
        id: row.get("id")?,
        timestamp: row.get("timestamp")?,
        actor: Actor {
            kind: row.get("actor_type")?,
            id: row.get("actor_id")?,
            ip_address: row.get("ip_address")?,
            user_agent: row.get("user_agent")?,
        },
        action: row.get("action")?,
        resource_type: row.get("resource_type")?,
        resource_id: row.get("resource_id")?,
        details: row.get("details")?,
    })
}
