//! Targets: explicit ties between an agent and a stack.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{AgentId, StackId, TargetId};

/// An explicit tie between an agent and a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Target {
    /// Which tie.
    pub id: TargetId,
    /// The agent.
    pub agent_id: AgentId,
    /// The stack.
    pub stack_id: StackId,
    /// Since when.
    pub created_at: Timestamp,
}
