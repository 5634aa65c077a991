//! Drift: what others changed in a cluster of what a stack declares.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::word::words;
use crate::{AgentId, ObjectKey, StackId};

words! {
    /// What an agent does about drift.
    DriftMode as "drift mode" {
        /// It does not look.
        Off = "off",
        /// It says so.
        Warn = "warn",
        /// It repairs it.
        Enforce = "enforce",
    }
}

/// One finding: somebody changed an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DriftRecord {
    /// Which object.
    pub object: ObjectKey,
    /// Which of its fields differ; empty when the whole object was gone.
    #[serde(default)]
    pub fields: Vec<String>,
    /// Who changed it, as the cluster names its writers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// When it was found.
    pub at: Timestamp,
    /// What the agent does about it.
    pub mode: DriftMode,
    /// Whether it has been repaired.
    pub repaired: bool,
}

/// One finding, with who found it and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FoundDrift {
    /// Who found it.
    pub agent_id: AgentId,
    /// In which stack.
    pub stack_id: StackId,
    /// What was found.
    #[serde(flatten)]
    pub record: DriftRecord,
}
