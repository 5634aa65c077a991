//! Agents: one per cluster, with the generators each has agreed to serve.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::word::words;
use crate::{AgentId, GeneratorId, Name, RegistrationId};

words! {
    /// Whether an agent is to work.
    AgentStatus as "agent status" {
        /// Gets nothing and does nothing; the state of a new agent.
        Inactive = "INACTIVE",
        /// Is served and works.
        Active = "ACTIVE",
    }
}

/// The part of Evenkeel that runs beside one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Agent {
    /// Who it is.
    pub id: AgentId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed (a heartbeat is no change).
    pub updated_at: Timestamp,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
    /// With the cluster's name unique among the agents that are not deleted.
    pub name: Name,
    /// The cluster it serves.
    pub cluster_name: Name,
    /// Whether it is to work.
    pub status: AgentStatus,
    /// When it was last heard of.
    pub last_heartbeat: Option<Timestamp>,
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

/// What is needed to create an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgent {
    /// Its name.
    pub name: Name,
    /// Its cluster's name.
    pub cluster_name: Name,
    /// The generators it serves from the start.
    pub generators: Vec<GeneratorId>,
}

/// All that may change of an agent. `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentUpdate {
    /// A new name.
    pub name: Option<Name>,
    /// A new cluster name.
    pub cluster_name: Option<Name>,
    /// Starts or pauses it.
    pub status: Option<AgentStatus>,
}

/// A sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Whose.
    pub agent_id: AgentId,
    /// When.
    pub at: Timestamp,
    /// Whether the cluster answers, if the agent looked.
    pub k8s_reachable: Option<bool>,
    /// How long the cluster took, if it answered.
    pub k8s_api_latency_ms: Option<i64>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The cluster's version.
    pub kubernetes_version: Option<String>,
}

/// An agent's consent to serve a generator's stacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Registration {
    /// Which consent.
    pub id: RegistrationId,
    /// Who agreed.
    pub agent_id: AgentId,
    /// To whom.
    pub generator_id: GeneratorId,
    /// When.
    pub registered_at: Timestamp,
}
