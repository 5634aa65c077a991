//! `config.json`: what the pods of an agent read. The order of fields is part of it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::model::Model;
use super::tls::TlsFields;

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct AgentConfig {
    pub(crate) model: Option<Model>,
    pub(crate) description: String,
    pub(crate) instruction: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) http_tools: Vec<ServerConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sse_tools: Vec<ServerConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remote_agents: Vec<RemoteAgent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) execute_code: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<MemoryConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) network: Option<NetworkConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context_config: Option<ContextConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) share_tools: Option<bool>,
}

/// The tools of one server.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ServerConfig {
    pub(crate) params: ConnectionParams,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowed_headers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) require_approval: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ConnectionParams {
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sse_read_timeout: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) terminate_on_close: Option<bool>,
    #[serde(flatten)]
    pub(crate) tls: TlsFields,
}

/// Another agent.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RemoteAgent {
    pub(crate) name: String,
    pub(crate) url: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) isolate_sessions: bool,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct MemoryConfig {
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) ttl_days: i64,
    pub(crate) embedding: Embedding,
}

/// The model that makes vectors.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Embedding {
    pub(crate) provider: &'static str,
    pub(crate) model: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) base_url: String,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) api_key_passthrough: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) endpoint: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) deployment: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) api_version: String,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct NetworkConfig {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowed_domains: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ContextConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compaction: Option<CompactionConfig>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct CompactionConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compaction_interval: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) overlap_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summarizer_model: Option<Model>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) prompt_template: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_threshold: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event_retention_size: Option<i64>,
}

pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}
