//! Health and drift of what was applied, as the agent sees it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::word::words;
use crate::{AgentId, DeploymentId, DriftRecord, ObjectHealth};

words! {
    /// How what was applied is doing.
    HealthStatus as "health status" {
        /// As it should be.
        Healthy = "healthy",
        /// Working, but not as it should.
        Degraded = "degraded",
        /// Not working.
        Failing = "failing",
        /// Nothing can be said.
        Unknown = "unknown",
    }
}

/// The last word of one agent on the health of one deployment object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeploymentHealth {
    /// Who looked.
    pub agent_id: AgentId,
    /// At what.
    pub deployment_object_id: DeploymentId,
    /// How it is doing.
    pub status: HealthStatus,
    /// The reasons, as JSON.
    pub summary: Option<serde_json::Value>,
    /// How each object is doing.
    #[serde(default)]
    pub objects: Vec<ObjectHealth>,
    /// When the agent looked.
    pub checked_at: Timestamp,
}

/// What an agent saw of one deployment object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What it looked at.
    pub deployment_object_id: DeploymentId,
    /// How it is doing.
    pub status: HealthStatus,
    /// The reasons, as JSON.
    pub summary: Option<serde_json::Value>,
    /// What differs from what was applied, if something does.
    pub drift: Option<String>,
    /// How each object is doing.
    pub objects: Vec<ObjectHealth>,
    /// What others changed since the last report.
    pub drift_records: Vec<DriftRecord>,
    /// What it waits for, if it waits.
    pub waiting: Option<String>,
    /// When it looked.
    pub checked_at: Timestamp,
}

impl Report {
    /// How an object is doing, with nothing more to say about it.
    pub const fn of(
        deployment_object_id: DeploymentId,
        status: HealthStatus,
        checked_at: Timestamp,
    ) -> Self {
        Self {
            deployment_object_id,
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
