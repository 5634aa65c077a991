//! `ModelConfig`: a model, who provides it, and how it is reached.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::provider::{
    AnthropicConfig, AnthropicVertexAiConfig, AzureOpenAiConfig, BedrockConfig, FoundryConfig,
    GeminiConfig, GeminiVertexAiConfig, OllamaConfig, OpenAiConfig, SapAiCoreConfig,
};
use super::status::ModelConfigStatus;
use super::tls::TlsConfig;

/// The desired state of a model.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "kagent.dev",
    version = "v1alpha2",
    kind = "ModelConfig",
    namespaced,
    shortname = "mc",
    category = "kagent",
    status = "ModelConfigStatus",
    derive = "PartialEq",
    doc = "A model, who provides it, and how it is reached.",
    printcolumn = r#"{"name":"Provider","type":"string","jsonPath":".spec.provider"}"#,
    printcolumn = r#"{"name":"Model","type":"string","jsonPath":".spec.model"}"#
)]
#[x_kube(
    validation = Rule::new("!(has(self.openAI) && self.provider != 'OpenAI')").message("provider.openAI must be nil if the provider is not OpenAI"),
    validation = Rule::new("!(has(self.anthropic) && self.provider != 'Anthropic')").message("provider.anthropic must be nil if the provider is not Anthropic"),
    validation = Rule::new("!(has(self.azureOpenAI) && self.provider != 'AzureOpenAI')").message("provider.azureOpenAI must be nil if the provider is not AzureOpenAI"),
    validation = Rule::new("!(has(self.ollama) && self.provider != 'Ollama')").message("provider.ollama must be nil if the provider is not Ollama"),
    validation = Rule::new("!(has(self.gemini) && self.provider != 'Gemini')").message("provider.gemini must be nil if the provider is not Gemini"),
    validation = Rule::new("!(has(self.geminiVertexAI) && self.provider != 'GeminiVertexAI')").message("provider.geminiVertexAI must be nil if the provider is not GeminiVertexAI"),
    validation = Rule::new("!(has(self.anthropicVertexAI) && self.provider != 'AnthropicVertexAI')").message("provider.anthropicVertexAI must be nil if the provider is not AnthropicVertexAI"),
    validation = Rule::new("!(has(self.bedrock) && self.provider != 'Bedrock')").message("provider.bedrock must be nil if the provider is not Bedrock"),
    validation = Rule::new("!(has(self.sapAICore) && self.provider != 'SAPAICore')").message("provider.sapAICore must be nil if the provider is not SAPAICore"),
    validation = Rule::new("!(has(self.foundry) && self.provider != 'Foundry')").message("provider.foundry must be nil if the provider is not Foundry"),
    validation = Rule::new("!(has(self.apiKeySecretKey) && !has(self.apiKeySecret))").message("apiKeySecret must be set if apiKeySecretKey is set"),
    validation = Rule::new("!(has(self.apiKeySecret) && !has(self.apiKeySecretKey) && self.provider != 'Bedrock' && self.provider != 'SAPAICore')").message("apiKeySecretKey must be set if apiKeySecret is set (except for Bedrock and SAPAICore providers)"),
    validation = Rule::new("!(has(self.apiKeyPassthrough) && self.apiKeyPassthrough && has(self.apiKeySecret) && size(self.apiKeySecret) > 0)").message("apiKeyPassthrough and apiKeySecret are mutually exclusive"),
    validation = Rule::new("!(has(self.apiKeyPassthrough) && self.apiKeyPassthrough && (self.provider == 'Gemini' || self.provider == 'GeminiVertexAI' || self.provider == 'AnthropicVertexAI'))").message("apiKeyPassthrough must be false if provider is Gemini;GeminiVertexAI;AnthropicVertexAI"),
    validation = Rule::new("!(has(self.openAI) && has(self.openAI.tokenExchange) && (!has(self.apiKeySecret) || size(self.apiKeySecret) == 0))").message("openAI.tokenExchange requires apiKeySecret (the service account secret)"),
    validation = Rule::new("!(has(self.openAI) && has(self.openAI.tokenExchange) && has(self.apiKeyPassthrough) && self.apiKeyPassthrough)").message("openAI.tokenExchange and apiKeyPassthrough are mutually exclusive"),
    validation = Rule::new("!(has(self.openAI) && has(self.openAI.tokenExchange) && self.openAI.tokenExchange.type == 'GDCHServiceAccount' && !has(self.openAI.tokenExchange.gdchServiceAccount))").message("openAI.tokenExchange type GDCHServiceAccount requires openAI.tokenExchange.gdchServiceAccount"),
)]
#[serde(rename_all = "camelCase")]
pub struct ModelConfigSpec {
    /// The model, in the words of its provider.
    pub model: String,
    /// The Secret with the key to it, in the same namespace.
    pub api_key_secret: Option<String>,
    /// Which entry of that Secret.
    pub api_key_secret_key: Option<String>,
    /// Whether the token of each request is the key.
    pub api_key_passthrough: Option<bool>,
    /// Headers of every request to the provider.
    pub default_headers: Option<BTreeMap<String, String>>,
    /// Who provides the model.
    #[schemars(extend("enum" = ["Anthropic", "OpenAI", "AzureOpenAI", "Ollama", "Gemini", "GeminiVertexAI", "AnthropicVertexAI", "Bedrock", "SAPAICore", "Foundry"], "default" = "OpenAI"))]
    pub provider: Option<String>,
    /// What only OpenAI has.
    #[serde(rename = "openAI")]
    pub open_ai: Option<OpenAiConfig>,
    /// What only Anthropic has.
    pub anthropic: Option<AnthropicConfig>,
    /// What only Azure OpenAI has.
    #[serde(rename = "azureOpenAI")]
    pub azure_open_ai: Option<AzureOpenAiConfig>,
    /// What only Ollama has.
    pub ollama: Option<OllamaConfig>,
    /// What only Gemini has.
    pub gemini: Option<GeminiConfig>,
    /// What only Gemini on Vertex AI has.
    #[serde(rename = "geminiVertexAI")]
    pub gemini_vertex_ai: Option<GeminiVertexAiConfig>,
    /// What only Anthropic on Vertex AI has.
    #[serde(rename = "anthropicVertexAI")]
    pub anthropic_vertex_ai: Option<AnthropicVertexAiConfig>,
    /// What only AWS Bedrock has.
    pub bedrock: Option<BedrockConfig>,
    /// What only SAP AI Core has.
    #[serde(rename = "sapAICore")]
    pub sap_ai_core: Option<SapAiCoreConfig>,
    /// What only Azure AI Foundry has.
    pub foundry: Option<FoundryConfig>,
    /// How the provider's certificate is checked.
    pub tls: Option<TlsConfig>,
}
