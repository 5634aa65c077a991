//! Agents: one per cluster.

use evenkeel_api::{AgentUpdate, CreatedAgent, Heartbeat, ListQuery, NewAgent, RotatedAgent};
use evenkeel_model::{
    Agent, AgentId, AgentUpdate as Change, Heartbeat as Beat, Name, NewAgent as New, Page,
    Registration, Role, Stack,
};
use evenkeel_store::AgentFilter;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

impl Core {
    pub(crate) async fn agent_list(
        &self,
        caller: &Caller,
        query: ListQuery,
    ) -> Result<Page<Agent>> {
        let generator = caller.tenant()?;
        let paging = query.paging();
        let filter = AgentFilter {
            name: query.name,
            label: query.label,
            generator,
        };
        let page = self.store.agent_list(filter, paging).await?;
        Ok(page.map(|agent| self.with_beat(agent)))
    }

    pub(crate) async fn agent_create(
        &self,
        caller: &Caller,
        new: NewAgent,
    ) -> Result<CreatedAgent> {
        caller.operator()?;
        let mut generators = new.generator_ids.unwrap_or_default();
        generators.push(self.system);
        generators.sort_unstable();
        generators.dedup();
        let new = New {
            name: new.name,
            cluster_name: new.cluster_name,
            generators,
        };
        let key = self.mint();
        let agent = self
            .store
            .agent_create(&caller.actor, new, Some(key.material))
            .await?;
        Ok(CreatedAgent {
            agent,
            initial_pak: key.text,
        })
    }

    pub(crate) async fn agent_find(
        &self,
        caller: &Caller,
        name: &Name,
        cluster: &Name,
    ) -> Result<Agent> {
        if let Role::Generator(_) = caller.role {
            return Err(ApiError::forbidden(
                "agent_required",
                "only agents may do this",
            ));
        }
        let found = self.store.agent_find(name, cluster).await?;
        let agent =
            found.ok_or_else(|| ApiError::not_found("agent", format!("{name}@{cluster}")))?;
        caller.agent(agent.id)?;
        Ok(self.with_beat(agent))
    }

    pub(crate) async fn agent_get(&self, caller: &Caller, id: AgentId) -> Result<Agent> {
        caller.agent(id)?;
        self.agent_required(id).await
    }

    pub(crate) async fn agent_update(
        &self,
        caller: &Caller,
        id: AgentId,
        update: AgentUpdate,
    ) -> Result<Agent> {
        caller.agent(id)?;
        let change = Change {
            name: update.name,
            cluster_name: update.cluster_name,
            status: update.status,
        };
        Ok(self.store.agent_update(&caller.actor, id, change).await?)
    }

    pub(crate) async fn agent_delete(&self, caller: &Caller, id: AgentId) -> Result<()> {
        caller.operator()?;
        Ok(self.store.agent_delete(&caller.actor, id).await?)
    }

    pub(crate) async fn agent_rotate(&self, caller: &Caller, id: AgentId) -> Result<RotatedAgent> {
        caller.agent(id)?;
        let agent = self.agent_required(id).await?;
        let key = self.mint();
        self.store
            .key_rotate(&caller.actor, Role::Agent(id), key.material)
            .await?;
        Ok(RotatedAgent {
            agent,
            pak: key.text,
        })
    }

    /// Signs of life are gathered and written down together, see `tasks/signs.rs`.
    pub(crate) fn agent_heartbeat(
        &self,
        caller: &Caller,
        id: AgentId,
        beat: Heartbeat,
    ) -> Result<()> {
        caller.agent_itself(id)?;
        self.beat(Beat {
            agent_id: id,
            at: self.clock.now(),
            k8s_reachable: beat.k8s_reachable,
            k8s_api_latency_ms: beat.k8s_api_latency_ms,
            agent_version: beat.agent_version.map(shortened),
            kubernetes_version: beat.kubernetes_version.map(shortened),
        });
        Ok(())
    }

    pub(crate) async fn agent_registrations(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<Vec<Registration>> {
        caller.agent(id)?;
        self.agent_required(id).await?;
        Ok(self.store.registrations_of_agent(id).await?)
    }

    /// The stacks that the agent is to hold; those it is to give up are not among them.
    pub(crate) async fn agent_stacks(&self, caller: &Caller, id: AgentId) -> Result<Vec<Stack>> {
        caller.agent(id)?;
        self.agent_required(id).await?;
        let mut stacks = Vec::new();
        for assignment in self.store.assignments_of_agent(id).await? {
            if assignment.order == evenkeel_model::Order::Serve {
                stacks.extend(self.store.stack_get(assignment.stack_id).await?);
            }
        }
        Ok(stacks)
    }

    pub(super) async fn agent_required(&self, id: AgentId) -> Result<Agent> {
        let found = self.store.agent_get(id).await?;
        found
            .map(|agent| self.with_beat(agent))
            .ok_or_else(|| ApiError::not_found("agent", id))
    }

    /// The agent with a sign of life that may not have been written down yet.
    pub(super) fn with_beat(&self, agent: Agent) -> Agent {
        let beat = self.fleet.agent(agent.id).and_then(|cell| cell.beat());
        match beat.filter(|beat| agent.last_heartbeat < Some(beat.at)) {
            None => agent,
            Some(beat) => Agent {
                last_heartbeat: Some(beat.at),
                k8s_reported_at: beat
                    .k8s_reachable
                    .map(|_| beat.at)
                    .or(agent.k8s_reported_at),
                k8s_reachable: beat.k8s_reachable.or(agent.k8s_reachable),
                k8s_api_latency_ms: beat.k8s_api_latency_ms.or(agent.k8s_api_latency_ms),
                agent_version: beat.agent_version.or(agent.agent_version),
                kubernetes_version: beat.kubernetes_version.or(agent.kubernetes_version),
                ..agent
            },
        }
    }
}

/// The most characters of a version.
const VERSION_LIMIT: usize = 64;

fn shortened(version: String) -> String {
    super::bound::text(version, VERSION_LIMIT)
}
