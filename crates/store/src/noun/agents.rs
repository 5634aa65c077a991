//! Agents: one per cluster.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, Agent, AgentId, AgentStatus, AgentUpdate, GeneratorId, KeyMaterial, Label, Name,
    NewAgent, NewKey, Page, Paging, Role, Subject,
};
use futures::FutureExt;
use serde_json::json;

use super::{keys, living, registrations};
use crate::Result;
use crate::database::Database;
use crate::fact::Fact;
use crate::page::{self, From};
use crate::sql::{Row, sql};
use crate::transaction::Transaction;

/// Which agents are wanted; nothing set means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFilter {
    /// Those of this name.
    pub name: Option<Name>,
    /// Those with this label.
    pub label: Option<Label>,
    /// Those registered with this generator.
    pub generator: Option<GeneratorId>,
}

/// The agents.
#[async_trait]
pub trait Agents {
    /// Creates an agent, with its registrations, and its key if one is given.
    async fn agent_create(
        &self,
        by: &Actor,
        new: NewAgent,
        key: Option<KeyMaterial>,
    ) -> Result<Agent>;

    /// The agent, unless it is deleted.
    async fn agent_get(&self, id: AgentId) -> Result<Option<Agent>>;

    /// The agent of this name in this cluster, unless it is deleted.
    async fn agent_find(&self, name: &Name, cluster: &Name) -> Result<Option<Agent>>;

    /// The agents that are not deleted, oldest first.
    async fn agent_list(&self, filter: AgentFilter, paging: Paging) -> Result<Page<Agent>>;

    /// Changes what may be changed.
    async fn agent_update(&self, by: &Actor, id: AgentId, update: AgentUpdate) -> Result<Agent>;

    /// Deletes the agent and forgets what it holds: nobody is left to confirm anything. Its keys
    /// open nothing any more and its name is free again.
    async fn agent_delete(&self, by: &Actor, id: AgentId) -> Result<()>;
}

#[async_trait]
impl Agents for Database {
    async fn agent_create(
        &self,
        by: &Actor,
        new: NewAgent,
        key: Option<KeyMaterial>,
    ) -> Result<Agent> {
        let by = by.clone();
        self.write(move |tx| async move { create(tx, &by, new, key).await }.boxed())
            .await
    }

    async fn agent_get(&self, id: AgentId) -> Result<Option<Agent>> {
        self.alive(id).await
    }

    async fn agent_find(&self, name: &Name, cluster: &Name) -> Result<Option<Agent>> {
        let query = sql("SELECT * FROM agents \
             WHERE name = $1 AND cluster_name = $2 AND deleted_at IS NULL")
        .bind(name)
        .bind(cluster);
        self.one(query, agent).await
    }

    async fn agent_list(&self, filter: AgentFilter, paging: Paging) -> Result<Page<Agent>> {
        let query = sql("SELECT * FROM agents \
             WHERE position > $1 AND deleted_at IS NULL \
             AND ($3 IS NULL OR name = $3) \
             AND ($4 IS NULL OR EXISTS (SELECT 1 FROM agent_labels l \
                 WHERE l.owner_id = agents.id AND l.label = $4)) \
             AND ($5 IS NULL OR EXISTS (SELECT 1 FROM registrations r \
                 WHERE r.agent_id = agents.id AND r.generator_id = $5)) \
             ORDER BY position LIMIT $2");
        let query = page::bind(query, paging, From::Oldest)
            .bind(&filter.name)
            .bind(&filter.label)
            .bind(&filter.generator);
        self.page(query, paging, "position", agent).await
    }

    async fn agent_update(&self, by: &Actor, id: AgentId, update: AgentUpdate) -> Result<Agent> {
        let by = by.clone();
        self.write(move |tx| async move { change(tx, &by, id, update).await }.boxed())
            .await
    }

    async fn agent_delete(&self, by: &Actor, id: AgentId) -> Result<()> {
        let by = by.clone();
        self.write(move |tx| async move { delete(tx, &by, id).await }.boxed())
            .await
    }
}

async fn create(
    tx: &mut Transaction,
    by: &Actor,
    new: NewAgent,
    key: Option<KeyMaterial>,
) -> Result<Agent> {
    let agent = Agent {
        id: tx.id(),
        created_at: tx.now(),
        updated_at: tx.now(),
        deleted_at: None,
        name: new.name,
        cluster_name: new.cluster_name,
        status: AgentStatus::Inactive,
        last_heartbeat: None,
        k8s_reachable: None,
        k8s_api_latency_ms: None,
        k8s_reported_at: None,
        agent_version: None,
        kubernetes_version: None,
    };
    insert(tx, &agent).await?;
    for generator in new.generators {
        registrations::insert(tx, agent.id, generator).await?;
    }
    if let Some(material) = key {
        keys::mint(tx, NewKey::lasting(Role::Agent(agent.id), material)).await?;
    }
    note(tx, by, Action::AgentCreated, &agent).await?;
    Ok(agent)
}

async fn insert(tx: &mut Transaction, agent: &Agent) -> Result<()> {
    let position = tx.position();
    let query = sql("INSERT INTO agents \
         (id, position, created_at, updated_at, name, cluster_name, status) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)")
    .bind(&agent.id)
    .bind(&position)
    .bind(&agent.created_at)
    .bind(&agent.updated_at)
    .bind(&agent.name)
    .bind(&agent.cluster_name)
    .bind(&agent.status);
    tx.run(query).await.map(drop)
}

async fn change(
    tx: &mut Transaction,
    by: &Actor,
    id: AgentId,
    update: AgentUpdate,
) -> Result<Agent> {
    let old = living::require::<Agent>(tx, id).await?;
    let agent = Agent {
        name: update.name.unwrap_or(old.name),
        cluster_name: update.cluster_name.unwrap_or(old.cluster_name),
        status: update.status.unwrap_or(old.status),
        updated_at: tx.now(),
        ..old
    };
    let query = sql("UPDATE agents \
         SET name = $2, cluster_name = $3, status = $4, updated_at = $5 WHERE id = $1")
    .bind(&id)
    .bind(&agent.name)
    .bind(&agent.cluster_name)
    .bind(&agent.status)
    .bind(&agent.updated_at);
    tx.run(query).await?;
    note(tx, by, Action::AgentUpdated, &agent).await?;
    Ok(agent)
}

async fn delete(tx: &mut Transaction, by: &Actor, id: AgentId) -> Result<()> {
    let agent = living::require::<Agent>(tx, id).await?;
    for forget in [
        "DELETE FROM assignments WHERE agent_id = $1",
        "DELETE FROM deployment_health WHERE agent_id = $1",
        "DELETE FROM drift_records WHERE agent_id = $1",
        "DELETE FROM diff_answers WHERE agent_id = $1",
        "DELETE FROM targets WHERE agent_id = $1",
        "DELETE FROM registrations WHERE agent_id = $1",
        "DELETE FROM agent_labels WHERE owner_id = $1",
        "DELETE FROM agent_annotations WHERE owner_id = $1",
    ] {
        tx.run(sql(forget).bind(&id)).await?;
    }
    keys::revoke_all(tx, Role::Agent(id)).await?;
    living::end::<Agent>(tx, id).await?;
    note(tx, by, Action::AgentDeleted, &agent).await
}

async fn note(tx: &mut Transaction, by: &Actor, action: Action, agent: &Agent) -> Result<()> {
    let details = json!({
        "agent_id": agent.id,
        "name": agent.name,
        "cluster_name": agent.cluster_name,
        "status": agent.status,
    });
    tx.record(
        by,
        Fact::new(action, Subject::Agent { id: agent.id }, details),
    )
    .await
}

pub(super) fn agent(row: &Row) -> Result<Agent> {
    Ok(Agent {
        id: row.get("id")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        deleted_at: row.get("deleted_at")?,
        name: row.get("name")?,
        cluster_name: row.get("cluster_name")?,
        status: row.get("status")?,
        last_heartbeat: row.get("last_heartbeat")?,
        k8s_reachable: row.get("k8s_reachable")?,
        k8s_api_latency_ms: row.get("k8s_api_latency_ms")?,
        k8s_reported_at: row.get("k8s_reported_at")?,
        agent_version: row.get("agent_version")?,
        kubernetes_version: row.get("kubernetes_version")?,
    })
}
