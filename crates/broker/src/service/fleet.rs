//! The fleet at a glance, and how far each agent is.

use evenkeel_api::{AgentFleetStatus, AssignmentStatus, FleetAgentRecord};
use evenkeel_model::{Agent, AgentId, Assignment, GeneratorId, HealthStatus, Paging, Phase};
use evenkeel_store::{AgentFilter, EventFilter};

use crate::app::Core;
use crate::auth::Caller;
use crate::error::Result;

/// How many events are shown with an agent.
const RECENT: u32 = 20;

impl Core {
    pub(crate) async fn fleet(
        &self,
        caller: &Caller,
        generator: Option<GeneratorId>,
    ) -> Result<Vec<FleetAgentRecord>> {
        caller.operator()?;
        let filter = AgentFilter {
            generator,
            ..AgentFilter::default()
        };
        let agents = self.store.agent_list(filter, Paging::ALL).await?.items;
        Ok(agents
            .into_iter()
            .map(|agent| self.fleet_record(agent))
            .collect())
    }

    pub(crate) async fn agent_fleet_status(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<AgentFleetStatus> {
        caller.operator()?;
        let agent = self.agent_required(id).await?;
        let filter = EventFilter {
            agent: Some(id),
            stack: None,
        };
        let events = self.store.event_list(filter, Paging::first(RECENT)).await?;
        Ok(AgentFleetStatus {
            record: self.fleet_record(agent),
            recent_events: events.items.into_iter().map(Into::into).collect(),
        })
    }

    /// How far the agent is with each stack, and how the objects of each are doing.
    pub(crate) async fn agent_status(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<Vec<AssignmentStatus>> {
        caller.agent(id)?;
        self.agent_required(id).await?;
        let status = self.store.status_of_agent(id).await?;
        Ok(status.into_iter().map(Into::into).collect())
    }

    fn fleet_record(&self, agent: Agent) -> FleetAgentRecord {
        let agent = self.with_beat(agent);
        let cell = self.fleet.agent(agent.id);
        let connected_since = cell.as_ref().and_then(|cell| cell.waiting_since());
        let assignments = cell.map(|cell| cell.assignments()).unwrap_or_default();
        let count = |wanted: &dyn Fn(&Assignment) -> bool| {
            assignments
                .iter()
                .filter(|assignment| wanted(assignment))
                .count()
        };
        let health = |status| count(&|one| one.observed.health == Some(status));
        let age = |at| self.clock.now().duration_since(at).as_secs();
        FleetAgentRecord {
            agent_id: agent.id,
            name: agent.name,
            cluster_name: agent.cluster_name,
            status: agent.status,
            ws_connected: connected_since.is_some(),
            connected_since,
            last_heartbeat: agent.last_heartbeat,
            heartbeat_age_seconds: agent.last_heartbeat.map(age),
            stack_count: assignments.len(),
            pending_object_count: count(&|one| {
                matches!(one.phase(), Phase::Pending | Phase::Failed)
            }),
            failed_object_count: count(&|one| one.phase() == Phase::Failed),
            pending_work_orders: 0,
            claimed_work_orders: 0,
            last_event_at: assignments
                .iter()
                .filter_map(|one| one.observed.reported_at)
                .max(),
            health_failing: health(HealthStatus::Failing),
            health_degraded: health(HealthStatus::Degraded),
            waiting: count(&|one| one.observed.waiting.is_some()),
            drifted: count(&|one| one.observed.drift.is_some()),
            k8s_reachable: agent.k8s_reachable,
            k8s_api_latency_ms: agent.k8s_api_latency_ms,
            k8s_reported_at: agent.k8s_reported_at,
            agent_version: agent.agent_version,
            kubernetes_version: agent.kubernetes_version,
        }
    }
}
