//! Gemini.

use serde::Serialize;

use super::{Model, Own, base, positive};
use crate::api::ModelConfigSpec;
use crate::translate::parts::PodParts;

/// What Gemini is told wherever it runs.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<i64>,
}

impl Fields {
    pub(super) fn limited(max_output_tokens: Option<i64>) -> Self {
        Self {
            max_output_tokens: positive(max_output_tokens),
        }
    }
}

/// The variable is there even when no Secret is named, as in kagent.
pub(super) fn translate(spec: &ModelConfigSpec, parts: &mut PodParts) -> Model {
    let secret = spec.api_key_secret.as_deref().unwrap_or_default();
    let key = spec.api_key_secret_key.as_deref().unwrap_or_default();
    parts.set_from_secret("GOOGLE_API_KEY", secret, key);
    let most = spec.gemini.as_ref().and_then(|own| own.max_output_tokens);
    Model {
        api_key_passthrough: false,
        ..base("gemini", spec, Own::Gemini(Fields::limited(most)))
    }
}
