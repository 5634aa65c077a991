//! The resources that people write: kagent's, as it serves them.
//!
//! Fields that the API server restricts to a few words are plain text here, because documents that
//! never saw an API server are translated too; what a word means is decided where it is used. No
//! type fills in a default: the API server does, from the definitions that [`crds`] makes.
//!
//! ```text
//! Agent ──▶ ModelConfig ──▶ Secret
//!       ──▶ RemoteMCPServer │ MCPServer │ Service │ Agent
//! ```
//!
//! Read [`agent`] first, then [`tool`], [`deployment`], [`skills`] and [`model_config`].

#![allow(
    unreachable_pub,
    reason = "KubeSchema repeats every struct inside a function"
)]

pub mod agent;
pub mod context;
pub mod crds;
pub mod deployment;
pub mod mcp_server;
pub mod model_config;
pub mod namespaces;
pub mod provider;
mod quantities;
pub mod remote_mcp_server;
pub mod skills;
pub mod status;
pub mod tls;
pub mod tool;
pub mod v1alpha1;
pub mod values;

pub use agent::{Agent, AgentSpec};
pub use mcp_server::{MCPServer, MCPServerSpec};
pub use model_config::{ModelConfig, ModelConfigSpec};
pub use remote_mcp_server::{RemoteMCPServer, RemoteMCPServerSpec};
