//! Errors: one shape for all of them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a request was refused or failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// A stable word for programs.
    #[schema(example = "not_found")]
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The particulars, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<serde_json::Value>,
}
