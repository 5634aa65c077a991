//! The fleet at a glance.

use evenkeel_model::{AgentId, AgentStatus, Name};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::AgentEvent;

/// One agent, as an operator wants to see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FleetAgentRecord {
    /// Which agent.
    pub agent_id: AgentId,
    /// Its name.
    pub name: Name,
    /// Its cluster.
    pub cluster_name: Name,
    /// Whether it is to work.
    pub status: AgentStatus,
    /// Whether it waits for changes here at this moment.
    pub ws_connected: bool,
    /// Since when.
    pub connected_since: Option<Timestamp>,
    /// When it was last heard of.
    pub last_heartbeat: Option<Timestamp>,
    /// How long ago that was.
    pub heartbeat_age_seconds: Option<i64>,
    /// How many stacks it holds or is to hold.
    pub stack_count: usize,
    /// How many of them are not yet as wanted.
    pub pending_object_count: usize,
    /// How many of those it tried in vain.
    pub failed_object_count: usize,
    /// Work orders that wait for it.
    pub pending_work_orders: usize,
    /// Work orders that it works on.
    pub claimed_work_orders: usize,
    /// When it last reported an attempt.
    pub last_event_at: Option<Timestamp>,
    /// How many stacks fail.
    pub health_failing: usize,
    /// How many stacks are degraded.
    pub health_degraded: usize,
    /// How many stacks wait for somebody's word.
    #[serde(default)]
    pub waiting: usize,
    /// How many stacks drifted.
    pub drifted: usize,
    /// Whether it last reached its cluster.
    pub k8s_reachable: Option<bool>,
    /// How long its cluster last took to answer.
    pub k8s_api_latency_ms: Option<i64>,
    /// When it last said so.
    pub k8s_reported_at: Option<Timestamp>,
    /// The version it last said it is.
    #[serde(default)]
    pub agent_version: Option<String>,
    /// The version its cluster last said it is.
    #[serde(default)]
    pub kubernetes_version: Option<String>,
}

/// One agent with its last events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentFleetStatus {
    /// The agent.
    pub record: FleetAgentRecord,
    /// Its last events, newest first.
    pub recent_events: Vec<AgentEvent>,
}
