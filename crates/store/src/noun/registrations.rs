//! Registrations: which generators an agent has agreed to serve.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, Agent, AgentId, Generator, GeneratorId, Registration, Subject,
};
use futures::FutureExt;
use serde_json::json;

use super::{assignments, living};
use crate::database::Database;
use crate::fact::Fact;
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// Which generators an agent has agreed to serve.
#[async_trait]
pub trait Registrations {
    /// The agent agrees. Stacks that share a label or annotation with it are assigned at once.
    async fn registration_create(
        &self,
        by: &Actor,
        agent: AgentId,
        generator: GeneratorId,
    ) -> Result<Registration>;

    /// The agent no longer agrees. The generator's explicit targets on it go, and it is told to
    /// release what it holds of that generator.
    async fn registration_delete(
        &self,
        by: &Actor,
        agent: AgentId,
        generator: GeneratorId,
    ) -> Result<()>;

    /// The agent's registrations, oldest first.
    async fn registrations_of_agent(&self, agent: AgentId) -> Result<Vec<Registration>>;

    /// The generator's registrations, oldest first.
    async fn registrations_of_generator(&self, generator: GeneratorId)
    -> Result<Vec<Registration>>;
}

#[async_trait]
impl Registrations for Database {
    async fn registration_create(
        &self,
        by: &Actor,
        agent: AgentId,
        generator: GeneratorId,
    ) -> Result<Registration> {
        let by = by.clone();
        self.write(move |tx| async move { create(tx, &by, agent, generator).await }.boxed())
            .await
    }

    async fn registration_delete(
        &self,
        by: &Actor,
        agent: AgentId,
        generator: GeneratorId,
    ) -> Result<()> {
        let by = by.clone();
        self.write(move |tx| async move { delete(tx, &by, agent, generator).await }.boxed())
            .await
    }

    async fn registrations_of_agent(&self, agent: AgentId) -> Result<Vec<Registration>> {
        let query = sql("SELECT * FROM registrations WHERE agent_id = $1 \
             ORDER BY registered_at, id")
        .bind(&agent);
        self.all(query, registration).await
    }

    async fn registrations_of_generator(
        &self,
        generator: GeneratorId,
    ) -> Result<Vec<Registration>> {
        let query = sql("SELECT * FROM registrations WHERE generator_id = $1 \
             ORDER BY registered_at, id")
        .bind(&generator);
        self.all(query, registration).await
    }
}

async fn create(
    tx: &mut Transaction,
    by: &Actor,
    agent: AgentId,
    generator: GeneratorId,
) -> Result<Registration> {
    living::require::<Agent>(tx, agent).await?;
    let registration = insert(tx, agent, generator).await?;
    assignments::refresh_agent(tx, agent).await?;
    note(tx, by, Action::AgentRegistered, agent, generator).await?;
    Ok(registration)
}

pub(super) async fn insert(
    tx: &mut Transaction,
    agent_id: AgentId,
    generator_id: GeneratorId,
) -> Result<Registration> {
    living::refer::<Generator>(tx, generator_id, "registrations_generator_id_fkey").await?;
    let registration = Registration {
        id: tx.id(),
        agent_id,
        generator_id,
        registered_at: tx.now(),
    };
    let query = sql(
        "INSERT INTO registrations (id, agent_id, generator_id, registered_at) \
         VALUES ($1, $2, $3, $4)",
    )
    .bind(&registration.id)
    .bind(&agent_id)
    .bind(&generator_id)
    .bind(&registration.registered_at);
    tx.run(query).await?;
    Ok(registration)
}

async fn delete(
    tx: &mut Transaction,
    by: &Actor,
    agent: AgentId,
    generator: GeneratorId,
) -> Result<()> {
    let query = sql("DELETE FROM registrations WHERE agent_id = $1 AND generator_id = $2")
        .bind(&agent)
        .bind(&generator);
    if tx.run(query).await? == 0 {
        return Err(Error::not_found("registration with generator", &generator));
    }
    let query = sql("DELETE FROM targets WHERE agent_id = $1 \
         AND stack_id IN (SELECT id FROM stacks WHERE generator_id = $2)")
    .bind(&agent)
    .bind(&generator);
    tx.run(query).await?;
    assignments::refresh_agent(tx, agent).await?;
    note(tx, by, Action::AgentDeregistered, agent, generator).await
}

/// Refuses an agent that has not agreed to serve the generator.
pub(super) async fn require(
    tx: &mut Transaction,
    agent: AgentId,
    generator: GeneratorId,
) -> Result<()> {
    let query = sql("SELECT 1 FROM registrations WHERE agent_id = $1 AND generator_id = $2")
        .bind(&agent)
        .bind(&generator);
    let found = tx.one(query).await?;
    found
        .map(drop)
        .ok_or(Error::NotRegistered { agent, generator })
}

async fn note(
    tx: &mut Transaction,
    by: &Actor,
    action: Action,
    agent: AgentId,
    generator: GeneratorId,
) -> Result<()> {
    let details = json!({ "agent_id": agent, "generator_id": generator });
    tx.record(by, Fact::new(action, Subject::Agent { id: agent }, details))
        .await
}

fn registration(row: &Row) -> Result<Registration> {
    Ok(Registration {
        id: row.get("id")?,
        agent_id: row.get("agent_id")?,
        generator_id: row.get("generator_id")?,
        registered_at: row.get("registered_at")?,
    })
}
