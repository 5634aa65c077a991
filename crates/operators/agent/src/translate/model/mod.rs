//! Models: what the runtime is told of one, and what its pods need to reach it.

mod anthropic;
mod azure_open_ai;
pub(crate) mod bedrock;
mod foundry;
mod gemini;
mod ollama;
mod open_ai;
pub(crate) mod sap_ai_core;
mod vertex_ai;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Scene;
use super::config::{Embedding, is_false};
use super::error::TranslateError;
use super::parts::PodParts;
use super::tls::{self, TlsFields};
use crate::api::{ModelConfig, ModelConfigSpec};

/// The model of agents that name none.
pub const DEFAULT_MODEL: &str = "default-model-config";

/// The `model` of `config.json`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Model {
    r#type: &'static str,
    model: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(flatten)]
    tls: TlsFields,
    #[serde(skip_serializing_if = "is_false")]
    api_key_passthrough: bool,
    #[serde(flatten)]
    own: Own,
}

/// What only one provider has. The order of fields is part of `config.json`.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Own {
    OpenAi(Box<open_ai::Fields>),
    AzureOpenAi(azure_open_ai::Fields),
    Anthropic(anthropic::Fields),
    Ollama(ollama::Fields),
    Bedrock(bedrock::Fields),
    SapAiCore(sap_ai_core::Fields),
    Foundry(foundry::Fields),
    Gemini(gemini::Fields),
    Nothing {},
}

/// A model that was translated.
pub(super) struct Translated {
    pub(super) model: Model,
    pub(super) parts: PodParts,
    /// A hash of its Secrets; empty when it has none.
    pub(super) secret_hash: Vec<u8>,
}

/// A model in the namespace of the agent.
pub(super) fn translate(scene: &Scene<'_>, name: &str) -> Result<Translated, TranslateError> {
    let config: &ModelConfig = scene.resources.need(scene.namespace(), name)?;
    let mut parts = PodParts::default();
    tls::mount(config.spec.tls.as_ref(), &mut parts);
    let model = provided(scene, &config.spec, &mut parts)?;
    let secret_hash = secret_hash(config)?;
    Ok(Translated {
        model,
        parts,
        secret_hash,
    })
}

fn provided(
    scene: &Scene<'_>,
    spec: &ModelConfigSpec,
    parts: &mut PodParts,
) -> Result<Model, TranslateError> {
    match spec.provider.as_deref().unwrap_or_default() {
        "OpenAI" => Ok(open_ai::translate(spec, parts)),
        "Anthropic" => Ok(anthropic::translate(spec, parts)),
        "AzureOpenAI" => azure_open_ai::translate(spec, parts),
        "Ollama" => ollama::translate(spec, parts),
        "Gemini" => Ok(gemini::translate(spec, parts)),
        "GeminiVertexAI" => vertex_ai::gemini(spec, parts),
        "AnthropicVertexAI" => vertex_ai::anthropic(spec, parts),
        "Bedrock" => bedrock::translate(scene, spec, parts),
        "SAPAICore" => sap_ai_core::translate(scene, spec, parts),
        "Foundry" => foundry::translate(scene, spec, parts),
        other => Err(TranslateError::UnknownWord {
            what: "model provider",
            word: other.to_owned(),
        }),
    }
}

fn secret_hash(config: &ModelConfig) -> Result<Vec<u8>, TranslateError> {
    let status = config
        .status
        .as_ref()
        .and_then(|status| status.secret_hash.as_deref());
    hex::decode(status.unwrap_or_default()).map_err(|error| TranslateError::Malformed {
        what: "secret hash",
        value: status.unwrap_or_default().to_owned(),
        problem: error.to_string(),
    })
}

/// What all providers have in common.
fn base(r#type: &'static str, spec: &ModelConfigSpec, own: Own) -> Model {
    Model {
        r#type,
        model: spec.model.clone(),
        headers: spec.default_headers.clone().unwrap_or_default(),
        tls: tls::fields(spec.tls.as_ref()),
        api_key_passthrough: spec.api_key_passthrough.unwrap_or_default(),
        own,
    }
}

/// The Secret with the key, if pods get one.
fn key_secret(spec: &ModelConfigSpec) -> Option<&str> {
    let passed_through = spec.api_key_passthrough.unwrap_or_default();
    let secret = spec
        .api_key_secret
        .as_deref()
        .filter(|secret| !secret.is_empty());
    secret.filter(|_| !passed_through)
}

/// Hands the key on in an environment variable.
fn set_key(variable: &str, spec: &ModelConfigSpec, parts: &mut PodParts) {
    if let Some(secret) = key_secret(spec) {
        let key = spec.api_key_secret_key.as_deref().unwrap_or_default();
        parts.set_from_secret(variable, secret, key);
    }
}

fn number(text: Option<&String>) -> Option<f64> {
    text?.parse().ok()
}

fn positive(number: Option<i64>) -> Option<i64> {
    number.filter(|number| *number > 0)
}

impl Model {
    /// The model as one that makes vectors.
    pub(super) fn as_embedding(&self) -> Embedding {
        let named = Embedding {
            provider: self.r#type,
            model: self.model.clone(),
            ..Embedding::default()
        };
        match &self.own {
            Own::OpenAi(own) => Embedding {
                base_url: own.base_url.clone(),
                api_key_passthrough: self.api_key_passthrough,
                ..named
            },
            Own::AzureOpenAi(_) => Embedding {
                api_key_passthrough: self.api_key_passthrough,
                ..named
            },
            Own::Anthropic(own) => Embedding {
                base_url: own.base_url.clone(),
                ..named
            },
            Own::SapAiCore(own) => Embedding {
                base_url: own.base_url.clone(),
                ..named
            },
            Own::Foundry(own) => Embedding {
                api_key_passthrough: self.api_key_passthrough,
                endpoint: own.endpoint.clone(),
                deployment: own.deployment.clone(),
                api_version: own.api_version.clone(),
                ..named
            },
            Own::Ollama(_) | Own::Bedrock(_) | Own::Gemini(_) | Own::Nothing {} => named,
        }
    }
}

/// JSON that nobody reads here, with its keys in order and its numbers as Go holds them.
fn as_any(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields
                .iter()
                .map(|(key, value)| (key.clone(), as_any(value)))
                .collect();
            sorted.into_iter().collect()
        }
        Value::Array(items) => items.iter().map(as_any).collect(),
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        other => other.clone(),
    }
}
