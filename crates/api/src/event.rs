//! Events: what agents report.

use evenkeel_model::{
    AgentEvent as Stored, AgentId, ChangeCounts, DeploymentId, EventId, EventStatus, ObjectChange,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One attempt of one agent at one deployment object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentEvent {
    /// Which event.
    pub id: EventId,
    /// When it was received.
    pub created_at: Timestamp,
    /// The same: it never changes.
    pub updated_at: Timestamp,
    /// Never set.
    #[serde(default)]
    pub deleted_at: Option<Timestamp>,
    /// Who reported it.
    pub agent_id: AgentId,
    /// What was attempted.
    pub deployment_object_id: DeploymentId,
    /// What kind of attempt, in the agent's words.
    pub event_type: String,
    /// How it ended.
    pub status: EventStatus,
    /// What the agent has to say about it.
    #[serde(default)]
    pub message: Option<String>,
    /// When the attempt was made, by the agent's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted_at: Option<Timestamp>,
    /// What was done to each object; of many only those that tell the most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ObjectChange>,
    /// What was done to how many, all counted.
    #[serde(default, skip_serializing_if = "ChangeCounts::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, u64>)]
    pub change_counts: ChangeCounts,
}

impl From<Stored> for AgentEvent {
    fn from(stored: Stored) -> Self {
        Self {
            id: stored.id,
            created_at: stored.created_at,
            updated_at: stored.created_at,
            deleted_at: None,
            agent_id: stored.agent_id,
            deployment_object_id: stored.deployment_object_id,
            event_type: stored.event_type,
            status: stored.status,
            message: stored.message,
            attempted_at: stored.attempted_at,
            changes: stored.changes,
            change_counts: stored.change_counts,
        }
    }
}

/// An event to be recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewEvent {
    /// The agent's own name for it: the same id twice is one event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<EventId>,
    /// Who reports; the agent of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// What was attempted.
    pub deployment_object_id: DeploymentId,
    /// What kind of attempt.
    #[schema(max_length = 50, example = "DEPLOY")]
    pub event_type: String,
    /// How it ended.
    pub status: EventStatus,
    /// What there is to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the attempt was made, by the agent's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted_at: Option<Timestamp>,
    /// What was done to each object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ObjectChange>,
    /// What was done to how many; counted from `changes` if absent.
    #[serde(default, skip_serializing_if = "ChangeCounts::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, u64>)]
    pub change_counts: ChangeCounts,
}

impl NewEvent {
    /// An attempt at an object, with nothing more to say about it.
    pub fn of(deployment_object_id: DeploymentId, status: EventStatus) -> Self {
        Self {
            id: None,
            agent_id: None,
            deployment_object_id,
            event_type: "DEPLOY".to_owned(),
            status,
            message: None,
            attempted_at: None,
            changes: Vec::new(),
            change_counts: ChangeCounts::new(),
        }
    }
}
