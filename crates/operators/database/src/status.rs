//! The status of a Database.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
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
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
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
}
