//! Status: how far one agent is with one stack.

use evenkeel_model::{
    AgentId, AgentStackStatus, Assignment, DriftRecord, HealthStatus, ObjectHealth, Order, Phase,
    SequenceId, StackId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an agent is to do with a stack, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AssignmentStatus {
    /// The agent.
    pub agent_id: AgentId,
    /// The stack.
    pub stack_id: StackId,
    /// What it is to do.
    pub order: Order,
    /// How far it has come.
    pub phase: Phase,
    /// Since when the phase is what it is.
    pub since: Timestamp,
    /// What is wanted.
    pub desired: Option<SequenceId>,
    /// What was last reported as done.
    pub applied: Option<SequenceId>,
    /// What was last tried.
    pub attempted: Option<SequenceId>,
    /// How often that has failed.
    pub attempts: i64,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// When the agent last reported a try.
    pub reported_at: Option<Timestamp>,
    /// The health of what it applied.
    pub health: Option<HealthStatus>,
    /// What differs in the cluster from what was applied.
    pub drift: Option<String>,
    /// What the agent waits for, if it waits.
    #[serde(default)]
    pub waiting: Option<String>,
    /// How each object is doing.
    #[serde(default)]
    pub objects: Vec<ObjectHealth>,
    /// What others last changed, newest first.
    #[serde(default)]
    pub drift_records: Vec<DriftRecord>,
}

impl From<&Assignment> for AssignmentStatus {
    fn from(assignment: &Assignment) -> Self {
        let observed = &assignment.observed;
        Self {
            agent_id: assignment.agent_id,
            stack_id: assignment.stack_id,
            order: assignment.order,
            phase: assignment.phase(),
            since: assignment.since(),
            desired: assignment.desired(),
            applied: observed.applied,
            attempted: observed.attempted,
            attempts: observed.attempts,
            last_error: observed.last_error.clone(),
            reported_at: observed.reported_at,
            health: observed.health,
            drift: observed.drift.clone(),
            waiting: observed.waiting.clone(),
            objects: Vec::new(),
            drift_records: Vec::new(),
        }
    }
}

impl From<AgentStackStatus> for AssignmentStatus {
    fn from(status: AgentStackStatus) -> Self {
        Self {
            objects: status.objects,
            drift_records: status.drift_records,
            ..Self::from(&status.assignment)
        }
    }
}
