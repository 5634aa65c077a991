//! The first version of `Agent` and `ModelConfig`: served, so that clients of it are not turned
//! away, but kept as it is written. Nothing converts it, as in kagent; an `Agent` of this version
//! has no `declarative` part and is refused with a condition that says so.

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::status::{AgentStatus, ModelConfigStatus};

/// An agent of the first version.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "kagent.dev",
    version = "v1alpha1",
    kind = "Agent",
    namespaced,
    storage = false,
    status = "AgentStatus"
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct AgentSpec {
    /// What the agent is for.
    pub description: Option<String>,
    /// What it is told before the first message.
    pub system_message: Option<String>,
    /// The ModelConfig.
    pub model_config: Option<String>,
}

/// A model of the first version.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "kagent.dev",
    version = "v1alpha1",
    kind = "ModelConfig",
    namespaced,
    shortname = "mc",
    category = "kagent",
    storage = false,
    status = "ModelConfigStatus",
    printcolumn = r#"{"name":"Provider","type":"string","jsonPath":".spec.provider"}"#,
    printcolumn = r#"{"name":"Model","type":"string","jsonPath":".spec.model"}"#
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct ModelConfigSpec {
    /// The model.
    pub model: String,
    /// Who provides it.
    #[schemars(extend("default" = "OpenAI"))]
    pub provider: Option<String>,
}
