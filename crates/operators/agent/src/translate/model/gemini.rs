//! Gemini.

use super::{Model, Own, base};
use crate::api::ModelConfigSpec;
use crate::translate::parts::PodParts;

/// The variable is there even when no Secret is named, as in kagent.
pub(super) fn translate(spec: &ModelConfigSpec, parts: &mut PodParts) -> Model {
    let secret = spec.api_key_secret.as_deref().unwrap_or_default();
    let key = spec.api_key_secret_key.as_deref().unwrap_or_default();
    parts.set_from_secret("GOOGLE_API_KEY", secret, key);
    Model {
        api_key_passthrough: false,
        ..base("gemini", spec, Own::Nothing {})
    }
}
