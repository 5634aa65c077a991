//! `MCPServer`: a server of tools that the kmcp project runs in the cluster.
//!
//! Agents need to know where it listens; everything else is between its author and kmcp, so the
//! definition keeps fields that are not named here.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::status::MCPServerStatus;

/// The desired state of an MCP server.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "kagent.dev",
    version = "v1alpha1",
    kind = "MCPServer",
    plural = "mcpservers",
    namespaced,
    shortname = "mcps",
    shortname = "mcp",
    category = "kagent",
    status = "MCPServerStatus",
    derive = "PartialEq",
    doc = "A server of tools that kmcp runs in the cluster.",
    printcolumn = r#"{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct MCPServerSpec {
    /// How it is run.
    pub deployment: MCPServerDeployment,
    /// How it is spoken to inside its pod.
    #[schemars(extend("enum" = ["stdio", "http"]))]
    pub transport_type: Option<String>,
    /// Where it listens inside its pod.
    pub http_transport: Option<HttpTransport>,
    /// How long a request may take.
    #[schemars(extend("default" = "30s"))]
    pub timeout: Option<String>,
}

/// How an MCP server is run.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct MCPServerDeployment {
    /// The image.
    pub image: Option<String>,
    /// The port of its Service.
    pub port: Option<u16>,
    /// The program.
    pub cmd: Option<String>,
    /// Its arguments.
    pub args: Option<Vec<String>>,
    /// Its environment variables.
    pub env: Option<BTreeMap<String, String>>,
}

/// Where an MCP server listens inside its pod.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct HttpTransport {
    /// The port.
    pub target_port: Option<u32>,
    /// The path.
    pub path: Option<String>,
}
