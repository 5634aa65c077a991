//! Ollama.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Model, Own, base};
use crate::api::ModelConfigSpec;
use crate::translate::error::TranslateError;
use crate::translate::parts::PodParts;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Fields {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    options: BTreeMap<String, String>,
}

pub(super) fn translate(
    spec: &ModelConfigSpec,
    parts: &mut PodParts,
) -> Result<Model, TranslateError> {
    let ollama = spec.ollama.as_ref();
    let ollama = ollama.ok_or(TranslateError::Missing("ollama of the ModelConfig"))?;
    parts.set(
        "OLLAMA_API_BASE",
        with_scheme(ollama.host.as_deref().unwrap_or_default()),
    );
    let own = Fields {
        options: ollama.options.clone().unwrap_or_default(),
    };
    Ok(base("ollama", spec, Own::Ollama(own)))
}

fn with_scheme(host: &str) -> String {
    if host.starts_with("http://") || host.starts_with("https://") {
        return host.to_owned();
    }
    format!("http://{host}")
}
