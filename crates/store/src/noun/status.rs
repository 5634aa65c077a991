//! Status of a stack on every agent, or of every stack on an agent: the assignment with how its
//! objects are doing and what others last changed of them.

use std::collections::HashMap;
use std::hash::Hash;

use async_trait::async_trait;
use evenkeel_model::{AgentId, AgentStackStatus, DriftRecord, FoundDrift, Page, Paging, StackId};

use super::{assignments, drift};
use crate::Result;
use crate::database::Database;
use crate::page::{self, From};
use crate::sql::{Row, sql};

/// How many findings of drift are shown of each assignment.
const FINDINGS: i64 = 10;

/// Status of stacks on agents.
#[async_trait]
pub trait Statuses {
    /// How far each agent is with the stack, in the order in which the agents came.
    async fn status_of_stack(
        &self,
        stack: StackId,
        paging: Paging,
    ) -> Result<Page<AgentStackStatus>>;

    /// How far the agent is with each of its stacks, in ascending order of what is to be served.
    async fn status_of_agent(&self, agent: AgentId) -> Result<Vec<AgentStackStatus>>;
}

#[async_trait]
impl Statuses for Database {
    async fn status_of_stack(
        &self,
        stack: StackId,
        paging: Paging,
    ) -> Result<Page<AgentStackStatus>> {
        let query = sql(
            "SELECT w.*, g.position, COALESCE(h.objects, '[]') AS objects \
             FROM assignments_wanted w JOIN agents g ON g.id = w.agent_id \
             LEFT JOIN deployment_health h \
                 ON h.agent_id = w.agent_id AND h.deployment_object_id = w.object_id \
             WHERE w.stack_id = $3 AND g.position > $1 ORDER BY g.position LIMIT $2",
        );
        let query = page::bind(query, paging, From::Oldest).bind(&stack);
        let rows = self.reader().await?.all(query).await?;
        let last: Option<i64> = rows.last().map(|row| row.get("position")).transpose()?;
        let mut page = page::of(rows, paging, "position", status)?;
        let first = paging.after.map_or(0, |cursor| cursor.0);
        let mut found = self.last_drift(stack, first, last.unwrap_or(0)).await?;
        for status in &mut page.items {
            let its = found.remove(&status.assignment.agent_id);
            status.drift_records = its.unwrap_or_default();
        }
        Ok(page)
    }

    async fn status_of_agent(&self, agent: AgentId) -> Result<Vec<AgentStackStatus>> {
        let query = sql("SELECT w.*, COALESCE(h.objects, '[]') AS objects \
             FROM assignments_wanted w LEFT JOIN deployment_health h \
                 ON h.agent_id = w.agent_id AND h.deployment_object_id = w.object_id \
             WHERE w.agent_id = $1 ORDER BY COALESCE(w.sequence_id, 0), w.stack_id")
        .bind(&agent);
        let mut all = self.all(query, status).await?;
        let mut found = self.last_drift_of(agent).await?;
        for status in &mut all {
            let its = found.remove(&status.assignment.stack_id);
            status.drift_records = its.unwrap_or_default();
        }
        Ok(all)
    }
}

impl Database {
    /// The last findings of each agent whose place is in the range.
    async fn last_drift(
        &self,
        stack: StackId,
        after: i64,
        upto: i64,
    ) -> Result<HashMap<AgentId, Vec<DriftRecord>>> {
        let query = sql("SELECT * FROM (SELECT d.*, \
                 ROW_NUMBER() OVER (PARTITION BY d.agent_id ORDER BY d.position DESC) AS nth \
             FROM drift_records d JOIN agents g ON g.id = d.agent_id \
             WHERE d.stack_id = $1 AND g.position > $2 AND g.position <= $3) newest \
             WHERE nth <= $4 ORDER BY position DESC")
        .bind(&stack)
        .bind(&after)
        .bind(&upto)
        .bind(&FINDINGS);
        let found = self.all(query, drift::found).await?;
        Ok(by(|one| one.agent_id, found))
    }

    /// The last findings of one agent in each of its stacks.
    async fn last_drift_of(&self, agent: AgentId) -> Result<HashMap<StackId, Vec<DriftRecord>>> {
        let query = sql("SELECT * FROM (SELECT d.*, \
                 ROW_NUMBER() OVER (PARTITION BY d.stack_id ORDER BY d.position DESC) AS nth \
             FROM drift_records d WHERE d.agent_id = $1) newest \
             WHERE nth <= $2 ORDER BY position DESC")
        .bind(&agent)
        .bind(&FINDINGS);
        let found = self.all(query, drift::found).await?;
        Ok(by(|one| one.stack_id, found))
    }
}

/// The findings of each agent or stack, in the order in which they came.
fn by<K: Eq + Hash>(
    whose: impl Fn(&FoundDrift) -> K,
    found: Vec<FoundDrift>,
) -> HashMap<K, Vec<DriftRecord>> {
    let mut records = HashMap::<K, Vec<_>>::new();
    for one in found {
        records.entry(whose(&one)).or_default().push(one.record);
    }
    records
}

fn status(row: &Row) -> Result<AgentStackStatus> {
    Ok(AgentStackStatus {
        assignment: assignments::assignment(row)?,
        objects: row.json("objects")?,
        drift_records: Vec::new(),
    })
}
