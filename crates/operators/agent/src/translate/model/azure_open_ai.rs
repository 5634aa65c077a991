//! Azure OpenAI.

use serde::Serialize;

use super::{Model, Own, base, number, set_key};
use crate::api::ModelConfigSpec;
use crate::translate::error::TranslateError;
use crate::translate::parts::PodParts;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
}

pub(super) fn translate(
    spec: &ModelConfigSpec,
    parts: &mut PodParts,
) -> Result<Model, TranslateError> {
    let azure = spec.azure_open_ai.as_ref();
    let azure = azure.ok_or(TranslateError::Missing("azureOpenAI of the ModelConfig"))?;
    set_key("AZURE_OPENAI_API_KEY", spec, parts);
    let variables = [
        (
            "AZURE_AD_TOKEN",
            azure.azure_ad_token.as_deref().unwrap_or_default(),
        ),
        ("OPENAI_API_VERSION", azure.api_version.as_str()),
        ("AZURE_OPENAI_ENDPOINT", azure.azure_endpoint.as_str()),
    ];
    for (name, value) in variables.into_iter().filter(|(_, value)| !value.is_empty()) {
        parts.set(name, value);
    }
    let own = Fields {
        max_tokens: azure.max_tokens,
        temperature: number(azure.temperature.as_ref()),
        top_p: number(azure.top_p.as_ref()),
    };
    let mut model = base("azure_openai", spec, Own::AzureOpenAi(own));
    model.model = azure.azure_deployment.clone().unwrap_or_default();
    Ok(model)
}
