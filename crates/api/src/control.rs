//! Control of a stack: what people ask for beyond its revisions.

use evenkeel_model::{DriftMode, SequenceId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whose removals need not wait any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// The object; the newest on which an agent waits, if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_id: Option<SequenceId>,
}

/// What agents are to do about drift of a stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DriftChoice {
    /// This; or what each agent's own settings say, if nothing is named.
    #[serde(default)]
    pub mode: Option<DriftMode>,
}
