//! Gemini and Anthropic on Vertex AI.

use k8s_openapi::api::core::v1::{SecretVolumeSource, Volume, VolumeMount};

use super::gemini::Fields;
use super::{Model, Own, base};
use crate::api::ModelConfigSpec;
use crate::translate::error::TranslateError;
use crate::translate::parts::PodParts;

const CREDENTIALS: &str = "google-creds";
const CREDENTIALS_PATH: &str = "/creds";

pub(super) fn gemini(
    spec: &ModelConfigSpec,
    parts: &mut PodParts,
) -> Result<Model, TranslateError> {
    let vertex = spec.gemini_vertex_ai.as_ref();
    let vertex = vertex.ok_or(TranslateError::Missing("geminiVertexAI of the ModelConfig"))?;
    set_project(&vertex.project_id, &vertex.location, parts);
    parts.set("GOOGLE_GENAI_USE_VERTEXAI", "true");
    mount_credentials(spec, parts);
    let own = Fields::limited(vertex.max_output_tokens);
    Ok(base("gemini_vertex_ai", spec, Own::Gemini(own)))
}

pub(super) fn anthropic(
    spec: &ModelConfigSpec,
    parts: &mut PodParts,
) -> Result<Model, TranslateError> {
    let vertex = spec.anthropic_vertex_ai.as_ref();
    let vertex = vertex.ok_or(TranslateError::Missing(
        "anthropicVertexAI of the ModelConfig",
    ))?;
    set_project(&vertex.project_id, &vertex.location, parts);
    mount_credentials(spec, parts);
    Ok(base("gemini_anthropic", spec, Own::Nothing {}))
}

fn set_project(project: &str, location: &str, parts: &mut PodParts) {
    parts.set("GOOGLE_CLOUD_PROJECT", project);
    parts.set("GOOGLE_CLOUD_LOCATION", location);
}

/// Google's libraries read credentials from a file.
fn mount_credentials(spec: &ModelConfigSpec, parts: &mut PodParts) {
    let Some(secret) = spec
        .api_key_secret
        .clone()
        .filter(|secret| !secret.is_empty())
    else {
        return;
    };
    let key = spec.api_key_secret_key.as_deref().unwrap_or_default();
    parts.set(
        "GOOGLE_APPLICATION_CREDENTIALS",
        format!("{CREDENTIALS_PATH}/{key}"),
    );
    let source = SecretVolumeSource {
        secret_name: Some(secret),
        ..SecretVolumeSource::default()
    };
    parts.add_volume(Volume {
        name: CREDENTIALS.to_owned(),
        secret: Some(source),
        ..Volume::default()
    });
    parts.add_mount(VolumeMount {
        name: CREDENTIALS.to_owned(),
        mount_path: CREDENTIALS_PATH.to_owned(),
        ..VolumeMount::default()
    });
}
