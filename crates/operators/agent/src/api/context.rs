//! How a conversation is kept short.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

/// How a conversation is kept short.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextConfig {
    /// Replaces old events by a summary.
    pub compaction: Option<Compaction>,
}

/// Replaces old events by a summary.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// After how many new invocations.
    #[schemars(range(min = 1), extend("default" = 5))]
    pub compaction_interval: Option<i64>,
    /// How many of the invocations before are taken in again.
    #[schemars(range(min = 0), extend("default" = 2))]
    pub overlap_size: Option<i64>,
    /// Who summarises; without one, old events are dropped.
    pub summarizer: Option<Summarizer>,
    /// Compact when a prompt has this many tokens.
    pub token_threshold: Option<i64>,
    /// How many of the newest events always stay.
    pub event_retention_size: Option<i64>,
}

/// Who summarises.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summarizer {
    /// A ModelConfig; the agent's own when absent.
    pub model_config: Option<String>,
    /// The prompt.
    pub prompt_template: Option<String>,
}
