//! Events: what an agent reports of one attempt.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::word::words;
use crate::{AgentId, DeploymentId, EventId};

words! {
    /// How an attempt ended.
    EventStatus as "event status" {
        /// The cluster now looks as asked.
        Success = "SUCCESS",
        /// It does not; the message says why.
        Failure = "FAILURE",
    }
}

/// One attempt of one agent at one deployment object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentEvent {
    /// Which event.
    pub id: EventId,
    /// When it was received.
    pub created_at: Timestamp,
    /// Who reported it.
    pub agent_id: AgentId,
    /// What was attempted.
    pub deployment_object_id: DeploymentId,
    /// What kind of attempt, in the agent's words (`DEPLOY`).
    pub event_type: String,
    /// How it ended.
    pub status: EventStatus,
    /// What the agent has to say about it.
    pub message: Option<String>,
}

/// An event to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Who reports it.
    pub agent_id: AgentId,
    /// What was attempted.
    pub deployment_object_id: DeploymentId,
    /// What kind of attempt.
    pub event_type: String,
    /// How it ended.
    pub status: EventStatus,
    /// What the agent has to say about it.
    pub message: Option<String>,
}
