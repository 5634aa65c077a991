//! `Agent`: what somebody wants to run.

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::context::ContextConfig;
use super::deployment::{ByoDeployment, DeclarativeDeployment};
use super::namespaces::AllowedNamespaces;
use super::skills::Skills;
use super::status::AgentStatus;
use super::tool::Tool;
use super::values::ValueSource;

/// The desired state of an agent.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "kagent.dev",
    version = "v1alpha2",
    kind = "Agent",
    namespaced,
    status = "AgentStatus",
    derive = "PartialEq",
    doc = "An agent and how it is run.",
    printcolumn = r#"{"name":"Type","type":"string","description":"The type of the agent.","jsonPath":".spec.type"}"#,
    printcolumn = r#"{"name":"Runtime","type":"string","description":"The runtime of a declarative agent.","jsonPath":".spec.declarative.runtime"}"#,
    printcolumn = r#"{"name":"Ready","type":"string","description":"Whether the agent is ready to serve requests.","jsonPath":".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name":"Accepted","type":"string","description":"Whether the agent has been accepted.","jsonPath":".status.conditions[?(@.type=='Accepted')].status"}"#
)]
#[x_kube(
    validation = Rule::new("has(self.type)").message("type must be specified"),
    validation = Rule::new("self.type == 'Declarative' || self.type == 'BYO'").message("type must be either Declarative or BYO"),
    validation = Rule::new("(self.type == 'Declarative' && has(self.declarative)) || (self.type == 'BYO' && has(self.byo))").message("declarative must be specified if type is Declarative, or byo must be specified if type is BYO"),
)]
#[serde(rename_all = "camelCase")]
pub struct AgentSpec {
    /// Whether the agent is declared here or brought along as an image.
    #[schemars(extend("enum" = ["Declarative", "BYO"], "default" = "Declarative"))]
    pub r#type: Option<String>,
    /// An agent that somebody else built.
    pub byo: Option<ByoAgent>,
    /// An agent that is described by its prompt, model and tools.
    pub declarative: Option<DeclarativeAgent>,
    /// What the agent is for, to people and to other agents.
    pub description: Option<String>,
    /// Where its icon is.
    #[schemars(extend("format" = "uri"))]
    pub icon_url: Option<String>,
    /// Where its documentation is.
    #[schemars(extend("format" = "uri"))]
    pub documentation_url: Option<String>,
    /// Its own version, as shown on its card.
    pub version: Option<String>,
    /// Who provides it.
    pub provider: Option<AgentProvider>,
    /// Skills that are loaded into its `/skills` folder.
    pub skills: Option<Skills>,
    /// What code that it runs may reach.
    pub sandbox: Option<Sandbox>,
    /// Which namespaces may use this agent as a tool.
    pub allowed_namespaces: Option<AllowedNamespaces>,
}

/// Who provides an agent.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentProvider {
    /// The name of the organisation.
    pub organization: String,
    /// Where it is found.
    #[schemars(extend("format" = "uri"))]
    pub url: String,
}

/// What code that an agent runs may reach.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sandbox {
    /// The network.
    pub network: Option<SandboxNetwork>,
}

/// Which hosts code may reach.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxNetwork {
    /// Host names; none when absent.
    pub allowed_domains: Option<Vec<String>>,
}

/// An agent that somebody else built.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByoAgent {
    /// How its image is run.
    pub deployment: Option<ByoDeployment>,
}

/// An agent that is described by its prompt, model and tools.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("!has(self.systemMessage) || !has(self.systemMessageFrom)").message("systemMessage and systemMessageFrom are mutually exclusive"))]
#[serde(rename_all = "camelCase")]
pub struct DeclarativeAgent {
    /// Which runtime carries it.
    #[schemars(extend("enum" = ["python", "go"], "default" = "go"))]
    pub runtime: Option<String>,
    /// What it is told before the first message.
    pub system_message: Option<String>,
    /// A ConfigMap or Secret that holds the system message.
    pub system_message_from: Option<ValueSource>,
    /// Makes the system message a template.
    pub prompt_template: Option<PromptTemplate>,
    /// The ModelConfig, in the namespace of the agent; `default-model-config` when absent.
    pub model_config: Option<String>,
    /// Whether answers are streamed.
    pub stream: Option<bool>,
    /// What it may use.
    #[schemars(length(max = 20))]
    pub tools: Option<Vec<Tool>>,
    /// How it presents itself to other agents.
    pub a2a_config: Option<A2aConfig>,
    /// How it is run.
    pub deployment: Option<DeclarativeDeployment>,
    /// Whether code blocks in answers are executed.
    pub execute_code_blocks: Option<bool>,
    /// Long-term memory.
    pub memory: Option<Memory>,
    /// How the conversation is kept short.
    pub context: Option<ContextConfig>,
    /// Whether it may hand its tools on.
    pub share_tools: Option<bool>,
}

/// Makes the system message a template.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptTemplate {
    /// Where `include` finds text.
    #[schemars(length(max = 20))]
    pub data_sources: Option<Vec<PromptSource>>,
}

/// A ConfigMap whose entries a template may include.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptSource {
    /// Its kind; only ConfigMap is known.
    pub kind: Option<String>,
    /// Its API group.
    pub api_group: Option<String>,
    /// Its name, in the namespace of the agent.
    pub name: String,
    /// What the template calls it, when not by its name.
    pub alias: Option<String>,
}

/// How an agent presents itself to other agents.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct A2aConfig {
    /// What it can do.
    #[schemars(length(min = 1))]
    pub skills: Option<Vec<A2aSkill>>,
}

/// One thing that an agent can do.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aSkill {
    /// A word for programs.
    pub id: Option<String>,
    /// A name for people.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Keywords.
    pub tags: Option<Vec<String>>,
    /// Prompts that it can answer.
    pub examples: Option<Vec<String>>,
    /// What it takes.
    pub input_modes: Option<Vec<String>>,
    /// What it gives.
    pub output_modes: Option<Vec<String>>,
}

/// Long-term memory.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The ModelConfig that makes the vectors.
    pub model_config: String,
    /// For how many days an entry is kept.
    #[schemars(range(min = 1))]
    pub ttl_days: Option<i64>,
}
