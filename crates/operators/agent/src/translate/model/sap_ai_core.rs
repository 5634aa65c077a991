//! SAP AI Core.

use k8s_openapi::api::core::v1::Secret;
use serde::Serialize;

use super::{Model, Own, base, key_secret};
use crate::api::ModelConfigSpec;
use crate::translate::Scene;
use crate::translate::error::TranslateError;
use crate::translate::parts::PodParts;

/// The entries of the Secret, and what pods know them by.
pub(crate) const CREDENTIALS: [(&str, &str); 2] = [
    ("SAP_AI_CORE_CLIENT_ID", "client_id"),
    ("SAP_AI_CORE_CLIENT_SECRET", "client_secret"),
];

#[derive(Debug, Clone, Serialize)]
pub(super) struct Fields {
    pub(super) base_url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    resource_group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    auth_url: String,
}

pub(super) fn translate(
    scene: &Scene<'_>,
    spec: &ModelConfigSpec,
    parts: &mut PodParts,
) -> Result<Model, TranslateError> {
    let sap = spec.sap_ai_core.as_ref();
    let sap = sap.ok_or(TranslateError::Missing("sapAICore of the ModelConfig"))?;
    if let Some(name) = key_secret(spec) {
        scene.resources.need::<Secret>(scene.namespace(), name)?;
        for (variable, key) in CREDENTIALS {
            parts.set_from_secret(variable, name, key);
        }
    }
    let own = Fields {
        base_url: sap.base_url.clone(),
        resource_group: sap.resource_group.clone().unwrap_or_default(),
        auth_url: sap.auth_url.clone().unwrap_or_default(),
    };
    Ok(base("sap_ai_core", spec, Own::SapAiCore(own)))
}
