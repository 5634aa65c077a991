//! Anthropic.

use serde::Serialize;

use super::{Model, Own, base, number, positive, set_key};
use crate::api::ModelConfigSpec;
use crate::translate::parts::PodParts;

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Fields {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) base_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<i64>,
}

pub(super) fn translate(spec: &ModelConfigSpec, parts: &mut PodParts) -> Model {
    set_key("ANTHROPIC_API_KEY", spec, parts);
    let own = spec
        .anthropic
        .as_ref()
        .map_or_else(Fields::default, |own| Fields {
            base_url: own.base_url.clone().unwrap_or_default(),
            max_tokens: positive(own.max_tokens),
            temperature: number(own.temperature.as_ref()),
            top_p: number(own.top_p.as_ref()),
            top_k: positive(own.top_k),
        });
    base("anthropic", spec, Own::Anthropic(own))
}
