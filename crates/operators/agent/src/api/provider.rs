//! What each provider of models has of its own.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMapKeySelector;
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

/// What only OpenAI has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("!(has(self.maxTokens) && has(self.maxCompletionTokens))").message("maxTokens and maxCompletionTokens are mutually exclusive"))]
#[serde(rename_all = "camelCase")]
pub struct OpenAiConfig {
    /// Another address of the API.
    pub base_url: Option<String>,
    /// The organisation that is billed.
    pub organization: Option<String>,
    /// The temperature.
    pub temperature: Option<String>,
    /// At most this many tokens.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<i64>,
    /// At most this many tokens, those of reasoning included.
    #[schemars(range(min = 1))]
    pub max_completion_tokens: Option<i64>,
    /// Nucleus sampling.
    pub top_p: Option<String>,
    /// The penalty on frequent tokens.
    pub frequency_penalty: Option<String>,
    /// The penalty on tokens that were there.
    pub presence_penalty: Option<String>,
    /// The seed.
    pub seed: Option<i64>,
    /// How many answers.
    pub n: Option<i64>,
    /// How long a request may take, in seconds.
    pub timeout: Option<i64>,
    /// How much it reasons.
    #[schemars(extend("enum" = ["none", "minimal", "low", "medium", "high"]))]
    pub reasoning_effort: Option<String>,
    /// How a key is exchanged for a token.
    pub token_exchange: Option<TokenExchange>,
}

/// How a key is exchanged for a token.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenExchange {
    /// Which way.
    #[schemars(extend("enum" = ["GDCHServiceAccount"]))]
    pub r#type: String,
    /// A service account of Google Distributed Cloud.
    pub gdch_service_account: Option<GdchServiceAccount>,
}

/// A service account of Google Distributed Cloud.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GdchServiceAccount {
    /// For whom the token is.
    pub audience: String,
}

/// What only Anthropic has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnthropicConfig {
    /// Another address of the API.
    pub base_url: Option<String>,
    /// At most this many tokens.
    pub max_tokens: Option<i64>,
    /// The temperature.
    pub temperature: Option<String>,
    /// Nucleus sampling.
    pub top_p: Option<String>,
    /// Only the best so many tokens.
    pub top_k: Option<i64>,
}

/// What only Azure OpenAI has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AzureOpenAiConfig {
    /// The address of the API.
    pub azure_endpoint: String,
    /// Its version.
    pub api_version: String,
    /// The name of the deployment.
    pub azure_deployment: Option<String>,
    /// A token of Azure AD.
    pub azure_ad_token: Option<String>,
    /// The temperature.
    pub temperature: Option<String>,
    /// At most this many tokens.
    pub max_tokens: Option<i64>,
    /// Nucleus sampling.
    pub top_p: Option<String>,
}

/// What only Ollama has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OllamaConfig {
    /// Where it listens.
    pub host: Option<String>,
    /// Options of the model.
    pub options: Option<BTreeMap<String, String>>,
}

/// What only Gemini has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GeminiConfig {
    /// At most this many tokens.
    pub max_output_tokens: Option<i64>,
}

/// What only Gemini on Vertex AI has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GeminiVertexAiConfig {
    /// The project.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// Where it is.
    pub location: String,
    /// The temperature.
    pub temperature: Option<String>,
    /// Nucleus sampling.
    pub top_p: Option<String>,
    /// Only the best so many tokens.
    pub top_k: Option<String>,
    /// Where an answer ends.
    pub stop_sequences: Option<Vec<String>>,
    /// At most this many tokens.
    pub max_output_tokens: Option<i64>,
    /// How many answers.
    pub candidate_count: Option<i64>,
    /// The form of the answer.
    pub response_mime_type: Option<String>,
}

/// What only Anthropic on Vertex AI has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnthropicVertexAiConfig {
    /// The project.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// Where it is.
    pub location: String,
    /// The temperature.
    pub temperature: Option<String>,
    /// Nucleus sampling.
    pub top_p: Option<String>,
    /// Only the best so many tokens.
    pub top_k: Option<String>,
    /// Where an answer ends.
    pub stop_sequences: Option<Vec<String>>,
    /// At most this many tokens.
    pub max_tokens: Option<i64>,
}

/// What only AWS Bedrock has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BedrockConfig {
    /// The region.
    pub region: String,
    /// Fields of the request that only this model has.
    #[schemars(extend("type" = "object", "x-kubernetes-preserve-unknown-fields" = true))]
    pub additional_model_request_fields: Option<serde_json::Value>,
    /// Whether the prompt is cached.
    #[schemars(extend("default" = false))]
    pub prompt_caching: Option<bool>,
    /// For how long.
    #[serde(rename = "cacheTTL")]
    #[schemars(extend("enum" = ["5m", "1h"], "default" = "5m"))]
    pub cache_ttl: Option<String>,
    /// What watches over requests and answers.
    pub guardrail: Option<BedrockGuardrail>,
    /// How long an answer may take, in seconds.
    #[schemars(range(min = 1))]
    pub read_timeout: Option<i64>,
    /// How long a connection may take, in seconds.
    #[schemars(range(min = 1))]
    pub connect_timeout: Option<i64>,
}

/// What watches over requests to AWS Bedrock and its answers.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BedrockGuardrail {
    /// Its id or ARN.
    #[schemars(length(min = 1))]
    pub identifier: String,
    /// Its version, or DRAFT.
    #[schemars(length(min = 1))]
    pub version: String,
    /// How much it tells of what it did.
    #[schemars(extend("enum" = ["disabled", "enabled", "enabled_full"]))]
    pub trace: Option<String>,
}

/// What only SAP AI Core has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SapAiCoreConfig {
    /// The address of the API.
    pub base_url: String,
    /// The resource group.
    #[schemars(extend("default" = "default"))]
    pub resource_group: Option<String>,
    /// Where tokens come from.
    pub auth_url: Option<String>,
}

/// What only Azure AI Foundry has.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(
    validation = Rule::new("!(has(self.endpoint) && size(self.endpoint) > 0 && has(self.endpointFrom))").message("foundry.endpoint and foundry.endpointFrom are mutually exclusive"),
    validation = Rule::new("(has(self.endpoint) && size(self.endpoint) > 0) || has(self.endpointFrom)").message("foundry.endpoint or foundry.endpointFrom is required"),
)]
#[serde(rename_all = "camelCase")]
pub struct FoundryConfig {
    /// The address of the account.
    pub endpoint: Option<String>,
    /// A ConfigMap that holds the address.
    pub endpoint_from: Option<ConfigMapKeySelector>,
    /// The name of the deployment.
    pub deployment: String,
    /// The version of the API.
    #[schemars(extend("default" = "2024-10-21"))]
    pub api_version: Option<String>,
}
