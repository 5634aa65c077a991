//! Health of what was applied, and its sums.

use evenkeel_model::{
    AgentId, DeploymentHealth, DeploymentId, DriftRecord, HealthStatus, ObjectHealth, StackId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an agent saw of the objects that it applied.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HealthReport {
    /// One entry for each.
    pub deployment_objects: Vec<ReportedHealth>,
}

/// What an agent saw of one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReportedHealth {
    /// Which deployment object.
    pub id: DeploymentId,
    /// How it is doing.
    pub status: HealthStatus,
    /// The reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub summary: Option<serde_json::Value>,
    /// What differs in the cluster from what was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
    /// How each object is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ObjectHealth>,
    /// What others changed since the last report; the same finding twice is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift_records: Vec<DriftRecord>,
    /// What the agent waits for, if it waits: the answer to "why is it not done?".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<String>,
    /// When it looked.
    pub checked_at: Timestamp,
}

impl ReportedHealth {
    /// How an object is doing, with nothing more to say about it.
    pub const fn of(id: DeploymentId, status: HealthStatus, checked_at: Timestamp) -> Self {
        Self {
            id,
            status,
            summary: None,
            drift: None,
            objects: Vec::new(),
            drift_records: Vec::new(),
            waiting: None,
            checked_at,
        }
    }
}

/// The last word of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentHealth {
    /// Who looked.
    pub agent_id: AgentId,
    /// How it is doing.
    pub status: HealthStatus,
    /// The reasons.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub summary: Option<serde_json::Value>,
    /// When it looked.
    pub checked_at: Timestamp,
}

impl From<DeploymentHealth> for AgentHealth {
    fn from(health: DeploymentHealth) -> Self {
        Self {
            agent_id: health.agent_id,
            status: health.status,
            summary: health.summary,
            checked_at: health.checked_at,
        }
    }
}

/// How one deployment object is doing everywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeploymentHealthSummary {
    /// Which object.
    pub deployment_object_id: DeploymentId,
    /// The worst that is said of it.
    pub overall_status: HealthStatus,
    /// What each agent says.
    pub health_records: Vec<AgentHealth>,
}

/// How many agents say what of one deployment object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RevisionHealth {
    /// Which object.
    pub id: DeploymentId,
    /// The worst that is said of it.
    pub status: HealthStatus,
    /// How many agents find it healthy.
    pub healthy_agents: usize,
    /// How many find it degraded.
    pub degraded_agents: usize,
    /// How many find it failing.
    pub failing_agents: usize,
}

/// How the newest revision of a stack is doing everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StackHealth {
    /// Which stack.
    pub stack_id: StackId,
    /// The worst that is said of it.
    pub overall_status: HealthStatus,
    /// Its newest revision, if anybody said something about it.
    pub deployment_objects: Vec<RevisionHealth>,
}
