//! What an agent may use: tools of an MCP server, and other agents.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use super::values::ValueRef;

/// The tools of one server, or another agent.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(
    validation = Rule::new("!(has(self.mcpServer) && self.type != 'McpServer')").message("type.mcpServer must be nil if the type is not McpServer"),
    validation = Rule::new("!(!has(self.mcpServer) && self.type == 'McpServer')").message("type.mcpServer must be specified for McpServer filter.type"),
    validation = Rule::new("!(has(self.agent) && self.type != 'Agent')").message("type.agent must be nil if the type is not Agent"),
    validation = Rule::new("!(!has(self.agent) && self.type == 'Agent')").message("type.agent must be specified for Agent filter.type"),
    validation = Rule::new("!(has(self.isolateSessions) && self.isolateSessions && self.type != 'Agent')").message("isolateSessions may only be set if the type is Agent"),
)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Which of the two.
    #[schemars(extend("enum" = ["McpServer", "Agent"]))]
    pub r#type: Option<String>,
    /// Tools of a server.
    pub mcp_server: Option<McpServerTool>,
    /// Another agent.
    pub agent: Option<TypedReference>,
    /// Whether every call to the other agent starts a new session.
    pub isolate_sessions: Option<bool>,
    /// Headers of the requests to it; they win over the server's own.
    #[schemars(length(max = 50))]
    pub headers_from: Option<Vec<ValueRef>>,
}

/// Tools of a server.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("!has(self.requireApproval) || !has(self.toolNames) || self.requireApproval.all(t, self.toolNames.exists(n, n == t))").message("each requireApproval entry must also appear in toolNames"))]
#[serde(rename_all = "camelCase")]
pub struct McpServerTool {
    /// Which server.
    #[serde(flatten)]
    pub server: TypedReference,
    /// Which of its tools.
    #[schemars(length(max = 50), extend("items" = serde_json::json!({"type": "string", "maxLength": 253})))]
    pub tool_names: Option<Vec<String>>,
    /// Which of them a person must approve.
    #[schemars(length(max = 50), extend("items" = serde_json::json!({"type": "string", "maxLength": 253})))]
    pub require_approval: Option<Vec<String>>,
    /// Which headers of a request to the agent are handed on.
    pub allowed_headers: Option<Vec<String>>,
}

/// A resource of one of several kinds.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypedReference {
    /// Its kind.
    pub kind: Option<String>,
    /// Its API group.
    pub api_group: Option<String>,
    /// Its name.
    pub name: String,
    /// Its namespace; the agent's when absent.
    pub namespace: Option<String>,
}
