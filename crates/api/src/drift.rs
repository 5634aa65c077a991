//! Drift: what others changed in the clusters.

use evenkeel_model::{AgentId, Cursor, Paging, StackId};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// Which findings are wanted, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DriftQuery {
    /// Only those in this stack.
    #[param(value_type = Option<StackId>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackId>,
    /// Only those of this agent.
    #[param(value_type = Option<AgentId>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// At most so many; 100 unless said otherwise.
    #[param(minimum = 1, maximum = 1000)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Go on after this place: the `x-next-cursor` of the page before.
    #[param(value_type = Option<i64>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Cursor>,
}

impl DriftQuery {
    const USUAL: u32 = 100;

    /// The part of the list.
    pub fn paging(&self) -> Paging {
        let limit = self.limit.unwrap_or(Self::USUAL);
        Paging {
            after: self.after,
            limit: Some(limit.clamp(1, crate::ListQuery::LARGEST)),
        }
    }
}
