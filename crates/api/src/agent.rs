//! Agents: creating, changing and hearing from them.

use evenkeel_model::{Agent, AgentStatus, GeneratorId, Name};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An agent to be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewAgent {
    /// Its name.
    pub name: Name,
    /// The cluster it serves.
    pub cluster_name: Name,
    /// The generators it serves from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_ids: Option<Vec<GeneratorId>>,
}

/// An agent, with the key that is shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedAgent {
    /// The agent.
    pub agent: Agent,
    /// Its key.
    pub initial_pak: String,
}

/// An agent, with the key that replaces all its older ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RotatedAgent {
    /// The agent.
    pub agent: Agent,
    /// Its new key.
    pub pak: String,
}

/// What may change of an agent; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentUpdate {
    /// A new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// A new cluster name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_name: Option<Name>,
    /// Starts or pauses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<AgentStatus>,
}

/// A sign of life; an empty body is one too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Heartbeat {
    /// Whether the cluster answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k8s_reachable: Option<bool>,
    /// How long the cluster took to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k8s_api_latency_ms: Option<i64>,
    /// The agent's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The cluster's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes_version: Option<String>,
}
