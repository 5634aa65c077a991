//! Drift: what others changed in the clusters, the last findings of each agent in each stack.

use async_trait::async_trait;
use evenkeel_model::{AgentId, DriftRecord, FleetEvent, FoundDrift, Page, Paging, StackId};
use serde_json::json;

use crate::Result;
use crate::database::Database;
use crate::page::{self, From};
use crate::sql::{Row, sql};
use crate::transaction::Transaction;

/// How many findings of an agent in a stack are kept.
const KEPT: i64 = 100;

/// Which findings are wanted; nothing set means all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DriftFilter {
    /// Those of this agent.
    pub agent: Option<AgentId>,
    /// Those in this stack.
    pub stack: Option<StackId>,
}

/// What others changed. Agents tell it with their [health](crate::Healths).
#[async_trait]
pub trait Drifts {
    /// The findings, newest first.
    async fn drift_list(&self, filter: DriftFilter, paging: Paging) -> Result<Page<FoundDrift>>;
}

#[async_trait]
impl Drifts for Database {
    async fn drift_list(&self, filter: DriftFilter, paging: Paging) -> Result<Page<FoundDrift>> {
        let query = page::bind(sql(listing(filter)), paging, From::Newest)
            .bind(&filter.agent)
            .bind(&filter.stack);
        self.page(query, paging, "position", found).await
    }
}

/// A statement for each filter, so that each finds its rows by an index.
const fn listing(filter: DriftFilter) -> &'static str {
    match (filter.agent, filter.stack) {
        (Some(_), Some(_)) => {
            "SELECT * FROM drift_records WHERE agent_id = $3 AND stack_id = $4 \
             AND position < $1 ORDER BY position DESC LIMIT $2"
        }
        (Some(_), None) => {
            "SELECT * FROM drift_records WHERE agent_id = $3 AND $4 IS NULL \
             AND position < $1 ORDER BY position DESC LIMIT $2"
        }
        (None, Some(_)) => {
            "SELECT * FROM drift_records WHERE stack_id = $4 AND $3 IS NULL \
             AND position < $1 ORDER BY position DESC LIMIT $2"
        }
        (None, None) => {
            "SELECT * FROM drift_records WHERE position < $1 AND $3 IS NULL AND $4 IS NULL \
             ORDER BY position DESC LIMIT $2"
        }
    }
}

/// Keeps what an agent found; what it told before is brought up to date.
pub(super) async fn keep(
    tx: &mut Transaction,
    agent: AgentId,
    stack: StackId,
    records: &[DriftRecord],
) -> Result<()> {
    let mut news = false;
    for record in records {
        if !update(tx, agent, stack, record).await? {
            insert(tx, agent, stack, record).await?;
            news = true;
        }
    }
    if news {
        forget_oldest(tx, agent, stack).await?;
        announce(tx, agent, stack, records).await?;
    }
    Ok(())
}

async fn update(
    tx: &mut Transaction,
    agent: AgentId,
    stack: StackId,
    record: &DriftRecord,
) -> Result<bool> {
    let query = sql(
        "UPDATE drift_records SET fields = $5, manager = $6, mode = $7, repaired = $8 \
         WHERE agent_id = $1 AND stack_id = $2 AND object = $3 AND at = $4",
    )
    .bind(&agent)
    .bind(&stack)
    .json(&record.object)
    .bind(&record.at)
    .json(&record.fields)
    .bind(&record.manager)
    .bind(&record.mode)
    .bind(&record.repaired);
    Ok(tx.run(query).await? > 0)
}

async fn insert(
    tx: &mut Transaction,
    agent: AgentId,
    stack: StackId,
    record: &DriftRecord,
) -> Result<()> {
    let position = tx.position();
    let query = sql("INSERT INTO drift_records \
             (agent_id, stack_id, object, at, fields, manager, mode, repaired, position) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)")
    .bind(&agent)
    .bind(&stack)
    .json(&record.object)
    .bind(&record.at)
    .json(&record.fields)
    .bind(&record.manager)
    .bind(&record.mode)
    .bind(&record.repaired)
    .bind(&position);
    tx.run(query).await.map(drop)
}

async fn forget_oldest(tx: &mut Transaction, agent: AgentId, stack: StackId) -> Result<()> {
    let query = sql(
        "DELETE FROM drift_records WHERE agent_id = $1 AND stack_id = $2 \
         AND position <= (SELECT position FROM drift_records \
             WHERE agent_id = $1 AND stack_id = $2 ORDER BY position DESC LIMIT 1 OFFSET $3)",
    )
    .bind(&agent)
    .bind(&stack)
    .bind(&KEPT);
    tx.run(query).await.map(drop)
}

async fn announce(
    tx: &mut Transaction,
    agent: AgentId,
    stack: StackId,
    records: &[DriftRecord],
) -> Result<()> {
    let data = json!({ "agent_id": agent, "stack_id": stack, "drift_records": records });
    tx.announce(FleetEvent::StackDrifted, Some(agent), Some(stack), data)
        .await
}

pub(super) fn found(row: &Row) -> Result<FoundDrift> {
    Ok(FoundDrift {
        agent_id: row.get("agent_id")?,
        stack_id: row.get("stack_id")?,
        record: DriftRecord {
            object: row.json("object")?,
            fields: row.json("fields")?,
            manager: row.get("manager")?,
            at: row.get("at")?,
            mode: row.get("mode")?,
            repaired: row.get("repaired")?,
        },
    })
}
