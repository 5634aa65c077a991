//! The status of a Database.

use evenkeel_controller::{Condition, Conditions, conditions_schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the operator has to say about a Database.
#[derive(JsonSchema, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseStatus {
    /// The generation that all of this speaks of; written last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The conditions in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// How many servers there are.
    #[serde(default)]
    pub replicas: i32,
    /// How many of them answer.
    #[serde(default)]
    pub ready_replicas: i32,
    /// How to find the pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Where clients that write connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Where clients that only read may connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_endpoint: Option<String>,
    /// The Secret with everything that a client needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_name: Option<String>,
    /// The version that all servers run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The last request for a new password that was carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotated: Option<String>,
    /// Accepted, Progressing, Ready, StorageResizing, CredentialsReady.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
}

impl Conditions for DatabaseStatus {
    const TOLD: &'static [&'static str] = &["Accepted", "CredentialsReady", "Ready"];

    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }

    fn observed_generation(&mut self) -> Option<&mut Option<i64>> {
        Some(&mut self.observed_generation)
    }
}

/// The conditions in one word.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Nothing is done until a person changes something.
    Blocked,
    /// On its way.
    Progressing,
    /// All servers answer.
    Ready,
    /// Some servers answer.
    Degraded,
    /// Stopped on request.
    Stopped,
    /// Going away.
    Deleting,
    /// Nobody can tell at present.
    Unknown,
}
