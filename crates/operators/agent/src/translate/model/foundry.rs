//! Azure AI Foundry.

use serde::Serialize;

use super::{Model, Own, base};
use crate::api::ModelConfigSpec;
use crate::api::provider::FoundryConfig;
use crate::translate::Scene;
use crate::translate::error::TranslateError;
use crate::translate::parts::PodParts;
use crate::translate::values::config_map_value;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Fields {
    pub(super) endpoint: String,
    pub(super) deployment: String,
    pub(super) api_version: String,
}

/// Without a key the runtime uses the identity of its pod.
pub(super) fn translate(
    scene: &Scene<'_>,
    spec: &ModelConfigSpec,
    parts: &mut PodParts,
) -> Result<Model, TranslateError> {
    let foundry = spec.foundry.as_ref();
    let foundry = foundry.ok_or(TranslateError::Missing("foundry of the ModelConfig"))?;
    let own = Fields {
        endpoint: endpoint(scene, foundry)?,
        deployment: foundry.deployment.clone(),
        api_version: foundry.api_version.clone().unwrap_or_default(),
    };
    if let Some(secret) = spec
        .api_key_secret
        .as_deref()
        .filter(|secret| !secret.is_empty())
    {
        let key = spec.api_key_secret_key.as_deref().unwrap_or_default();
        parts.set_from_secret("FOUNDRY_API_KEY", secret, key);
    }
    parts.set("FOUNDRY_ENDPOINT", own.endpoint.clone());
    parts.set("FOUNDRY_DEPLOYMENT", own.deployment.clone());
    parts.set("FOUNDRY_API_VERSION", own.api_version.clone());
    Ok(Model {
        api_key_passthrough: false,
        ..base("foundry", spec, Own::Foundry(own))
    })
}

fn endpoint(scene: &Scene<'_>, foundry: &FoundryConfig) -> Result<String, TranslateError> {
    let missing = TranslateError::Missing("foundry.endpoint or foundry.endpointFrom");
    if let Some(endpoint) = foundry
        .endpoint
        .clone()
        .filter(|endpoint| !endpoint.is_empty())
    {
        return Ok(endpoint);
    }
    let source = foundry.endpoint_from.as_ref().ok_or(missing)?;
    let value = config_map_value(
        scene.namespace(),
        &source.name,
        &source.key,
        scene.resources,
    );
    match value {
        Ok(endpoint) if endpoint.is_empty() => Err(TranslateError::Missing(
            "foundry.endpoint or foundry.endpointFrom",
        )),
        other => other,
    }
}
