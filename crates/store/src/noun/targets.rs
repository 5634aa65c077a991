//! Targets: explicit ties between agents and stacks.

use async_trait::async_trait;
use evenkeel_model::{Action, Actor, Agent, AgentId, Stack, StackId, Subject, Target};
use futures::FutureExt;
use serde_json::json;

use super::{assignments, living, registrations};
use crate::database::Database;
use crate::fact::Fact;
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// The explicit ties between agents and stacks.
#[async_trait]
pub trait Targets {
    /// Ties the two together; the agent must be registered with the stack's generator.
    async fn target_create(&self, by: &Actor, agent: AgentId, stack: StackId) -> Result<Target>;

    /// Removes the tie. Unless a label or annotation still ties the two together, the agent is
    /// told to release the stack until it has confirmed that.
    async fn target_delete(&self, by: &Actor, agent: AgentId, stack: StackId) -> Result<()>;

    /// The agent's explicit targets, oldest first.
    async fn targets_of_agent(&self, agent: AgentId) -> Result<Vec<Target>>;

    /// The stack's explicit targets, oldest first.
    async fn targets_of_stack(&self, stack: StackId) -> Result<Vec<Target>>;
}

#[async_trait]
impl Targets for Database {
    async fn target_create(&self, by: &Actor, agent: AgentId, stack: StackId) -> Result<Target> {
        let by = by.clone();
        self.write(move |tx| async move { create(tx, &by, agent, stack).await }.boxed())
            .await
    }

    async fn target_delete(&self, by: &Actor, agent: AgentId, stack: StackId) -> Result<()> {
        let by = by.clone();
        self.write(move |tx| async move { delete(tx, &by, agent, stack).await }.boxed())
            .await
    }

    async fn targets_of_agent(&self, agent: AgentId) -> Result<Vec<Target>> {
        let query = sql("SELECT * FROM targets WHERE agent_id = $1 ORDER BY created_at, id");
        self.all(query.bind(&agent), target).await
    }

    async fn targets_of_stack(&self, stack: StackId) -> Result<Vec<Target>> {
        let query = sql("SELECT * FROM targets WHERE stack_id = $1 ORDER BY created_at, id");
        self.all(query.bind(&stack), target).await
    }
}

async fn create(
    tx: &mut Transaction,
    by: &Actor,
    agent_id: AgentId,
    stack_id: StackId,
) -> Result<Target> {
    living::require::<Agent>(tx, agent_id).await?;
    let stack = living::refer::<Stack>(tx, stack_id, "targets_stack_id_fkey").await?;
    registrations::require(tx, agent_id, stack.generator_id).await?;
    let target = Target {
        id: tx.id(),
        agent_id,
        stack_id,
        created_at: tx.now(),
    };
    let query = sql("INSERT INTO targets (id, agent_id, stack_id, created_at) \
         VALUES ($1, $2, $3, $4)")
    .bind(&target.id)
    .bind(&agent_id)
    .bind(&stack_id)
    .bind(&target.created_at);
    tx.run(query).await?;
    assignments::refresh_pair(tx, agent_id, stack_id).await?;
    note(tx, by, Action::TargetCreated, agent_id, stack_id).await?;
    Ok(target)
}

async fn delete(tx: &mut Transaction, by: &Actor, agent: AgentId, stack: StackId) -> Result<()> {
    let query = sql("DELETE FROM targets WHERE agent_id = $1 AND stack_id = $2")
        .bind(&agent)
        .bind(&stack);
    if tx.run(query).await? == 0 {
        return Err(Error::not_found("target on stack", &stack));
    }
    assignments::refresh_pair(tx, agent, stack).await?;
    note(tx, by, Action::TargetDeleted, agent, stack).await
}

async fn note(
    tx: &mut Transaction,
    by: &Actor,
    action: Action,
    agent_id: AgentId,
    stack_id: StackId,
) -> Result<()> {
    let details = json!({ "agent_id": agent_id, "stack_id": stack_id });
    tx.record(
        by,
        Fact::new(action, Subject::Assignment { agent_id, stack_id }, details),
    )
    .await
}

fn target(row: &Row) -> Result<Target> {
    Ok(Target {
        id: row.get("id")?,
        agent_id: row.get("agent_id")?,
        stack_id: row.get("stack_id")?,
        created_at: row.get("created_at")?,
    })
}
