//! Background work, as anybody may watch it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One piece of background work and how it last went on this broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskStatus {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// How often it runs.
    pub period_seconds: u64,
    /// When it last began here.
    pub last_started_at: Option<Timestamp>,
    /// When it last ended here.
    pub last_finished_at: Option<Timestamp>,
    /// What it last did, in words.
    pub last_result: Option<String>,
    /// Why it last failed; absent after a success.
    pub last_error: Option<String>,
}
