//! Diffs: what a revision would change in the live clusters, asked before it is submitted.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::word::words;
use crate::{AgentId, DiffId, ObjectKey, StackId};

words! {
    /// What a revision would do to an object.
    DiffChange as "kind of difference" {
        /// Make it.
        Create = "create",
        /// Change it.
        Update = "update",
        /// Remove it.
        Delete = "delete",
        /// Nothing.
        None = "none",
        /// It cannot be said, or the cluster would refuse it; the message says why.
        Error = "error",
    }
}

/// What a revision would do to one object. Values of secrets never leave their cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObjectDiff {
    /// Which object.
    #[serde(flatten)]
    pub object: ObjectKey,
    /// What would happen to it.
    pub change: DiffChange,
    /// As it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub before: Option<serde_json::Value>,
    /// As it would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub after: Option<serde_json::Value>,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What one agent found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffAnswer {
    /// What would happen to each object.
    #[serde(default)]
    pub objects: Vec<ObjectDiff>,
    /// Why the agent could not look at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A question that an agent has not answered yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PendingDiff {
    /// Which question.
    pub id: DiffId,
    /// About which stack.
    pub stack_id: StackId,
    /// The manifests that might become its next revision.
    pub yaml_content: String,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// No answer is wanted after.
    pub expires_at: Timestamp,
}

/// A question and what is known of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Diff {
    /// Which question.
    pub id: DiffId,
    /// About which stack.
    pub stack_id: StackId,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// It is forgotten after.
    pub expires_at: Timestamp,
    /// What the agents found, in the order in which they answered.
    pub answers: Vec<AgentDiff>,
    /// Who has not answered yet.
    pub missing: Vec<AgentId>,
}

/// What one agent found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentDiff {
    /// Who looked.
    pub agent_id: AgentId,
    /// When it answered.
    pub answered_at: Timestamp,
    /// What it found.
    #[serde(flatten)]
    pub answer: DiffAnswer,
}
