//! AWS Bedrock.

use k8s_openapi::api::core::v1::Secret;
use serde::Serialize;
use serde_json::Value;

use super::{Model, Own, as_any, base, key_secret};
use crate::api::ModelConfigSpec;
use crate::api::provider::BedrockGuardrail;
use crate::translate::Scene;
use crate::translate::config::is_false;
use crate::translate::error::TranslateError;
use crate::translate::parts::PodParts;

const BEARER_TOKEN: &str = "AWS_BEARER_TOKEN_BEDROCK";
const KEY_PAIR: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
const SESSION_TOKEN: &str = "AWS_SESSION_TOKEN";

#[derive(Debug, Clone, Serialize)]
pub(super) struct Fields {
    #[serde(skip_serializing_if = "String::is_empty")]
    region: String,
    #[serde(skip_serializing_if = "is_nothing")]
    additional_model_request_fields: Value,
    #[serde(skip_serializing_if = "is_false")]
    prompt_caching: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    cache_ttl: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    guardrail: Option<Guardrail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_timeout: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect_timeout: Option<i64>,
}

#[derive(Debug, Clone, Serialize)]
struct Guardrail {
    identifier: String,
    version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    trace: String,
}

fn is_nothing(value: &Value) -> bool {
    value.as_object().is_none_or(serde_json::Map::is_empty)
}

pub(super) fn translate(
    scene: &Scene<'_>,
    spec: &ModelConfigSpec,
    parts: &mut PodParts,
) -> Result<Model, TranslateError> {
    let bedrock = spec.bedrock.as_ref();
    let bedrock = bedrock.ok_or(TranslateError::Missing("bedrock of the ModelConfig"))?;
    parts.set("AWS_REGION", bedrock.region.clone());
    if let Some(name) = key_secret(spec) {
        let secret: &Secret = scene.resources.need(scene.namespace(), name)?;
        for key in credentials(secret) {
            parts.set_from_secret(key, name, key);
        }
    }
    let more = bedrock.additional_model_request_fields.as_ref();
    let own = Fields {
        region: bedrock.region.clone(),
        additional_model_request_fields: more.map_or(Value::Null, as_any),
        prompt_caching: bedrock.prompt_caching.unwrap_or_default(),
        cache_ttl: bedrock.cache_ttl.clone().unwrap_or_default(),
        guardrail: bedrock.guardrail.as_ref().map(guardrail),
        read_timeout: bedrock.read_timeout,
        connect_timeout: bedrock.connect_timeout,
    };
    Ok(base("bedrock", spec, Own::Bedrock(own)))
}

fn guardrail(given: &BedrockGuardrail) -> Guardrail {
    Guardrail {
        identifier: given.identifier.clone(),
        version: given.version.clone(),
        trace: given.trace.clone().unwrap_or_default(),
    }
}

/// A bearer token if there is one, else a pair of keys and perhaps a session.
pub(crate) fn credentials(secret: &Secret) -> Vec<&'static str> {
    let has = |key: &str| {
        secret
            .data
            .as_ref()
            .is_some_and(|data| data.contains_key(key))
    };
    if has(BEARER_TOKEN) {
        return vec![BEARER_TOKEN];
    }
    let session = has(SESSION_TOKEN).then_some(SESSION_TOKEN);
    KEY_PAIR.into_iter().chain(session).collect()
}
