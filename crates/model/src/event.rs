//! Events: what an agent reports of one attempt.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::word::words;
use crate::{AgentId, DeploymentId, EventId, ObjectAction, ObjectChange};

words! {
    /// How an attempt ended.
    EventStatus as "event status" {
        /// The cluster now looks as asked.
        Success = "SUCCESS",
        /// It does not; the message says why.
        Failure = "FAILURE",
    }
}

/// How many objects an attempt did what to.
pub type ChangeCounts = BTreeMap<ObjectAction, u64>;

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
    /// When the attempt was made, by the agent's clock.
    pub attempted_at: Option<Timestamp>,
    /// What was done to each object; not more than are worth keeping.
    pub changes: Vec<ObjectChange>,
    /// What was done to how many, all counted.
    pub change_counts: ChangeCounts,
}

/// An event to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The agent's own name for it: the same id twice is one event.
    pub id: Option<EventId>,
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
    /// When the attempt was made, by the agent's clock.
    pub attempted_at: Option<Timestamp>,
    /// What was done to each object; not more than are worth keeping.
    pub changes: Vec<ObjectChange>,
    /// What was done to how many, all counted.
    pub change_counts: ChangeCounts,
}

impl NewEvent {
    /// An attempt at an object, with nothing more to say about it.
    pub fn of(agent_id: AgentId, deployment_object_id: DeploymentId, status: EventStatus) -> Self {
        Self {
            id: None,
            agent_id,
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
