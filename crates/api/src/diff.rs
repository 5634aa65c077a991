//! Diffs: what a revision would change in the live clusters.

use evenkeel_model::{AgentId, DiffId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The header of a target state that grows when there is a question for the agent.
pub const INBOX: &str = "x-evenkeel-inbox";

/// A question, by JSON; the manifests alone may be sent as YAML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewDiff {
    /// The manifests that might become the stack's next revision.
    pub yaml_content: String,
}

/// A question that has been passed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffTicket {
    /// Which question.
    pub id: DiffId,
    /// Who was asked.
    pub agents: Vec<AgentId>,
    /// It is forgotten after.
    pub expires_at: Timestamp,
}
