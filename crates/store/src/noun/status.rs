//! Status of a stack: every agent's assignment with how its objects are doing and what others
//! last changed of them.

use std::collections::HashMap;

use async_trait::async_trait;
use evenkeel_model::{AgentId, AgentStackStatus, DriftRecord, Page, Paging, StackId};

use super::{assignments, drift};
use crate::Result;
use crate::database::Database;
use crate::page::{self, From};
use crate::sql::{Row, sql};

/// How many findings of drift are shown of each agent.
const FINDINGS: i64 = 10;

/// Status of stacks.
#[async_trait]
pub trait Statuses {
    /// How far each agent is with the stack, in the order in which the agents came.
    async fn status_of_stack(
        &self,
        stack: StackId,
        paging: Paging,
    ) -> Result<Page<AgentStackStatus>>;
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
        let mut found: HashMap<_, Vec<_>> = HashMap::new();
        for one in self.all(query, drift::found).await? {
            found.entry(one.agent_id).or_default().push(one.record);
        }
        Ok(found)
    }
}

fn status(row: &Row) -> Result<AgentStackStatus> {
    Ok(AgentStackStatus {
        assignment: assignments::assignment(row)?,
        objects: row.json("objects")?,
        drift_records: Vec::new(),
    })
}
