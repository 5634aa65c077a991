//! What code that an agent runs may touch: `srt-settings.json`.

use std::collections::BTreeMap;

use super::Scene;
use super::error::TranslateError;
use crate::go::json;

/// Whether an agent runs code of others: then it gets the larger image and these settings.
pub(super) fn runs_code(scene: &Scene<'_>) -> bool {
    let spec = &scene.agent.spec;
    if spec.r#type.as_deref() == Some("BYO") {
        return spec.sandbox.is_some();
    }
    let declared = spec.declarative.as_ref();
    let executes = declared.and_then(|declarative| declarative.execute_code_blocks);
    scene.has_skills() || executes == Some(true)
}

/// The settings, for agents that run code.
pub(super) fn settings(scene: &Scene<'_>) -> Result<Option<String>, TranslateError> {
    if !runs_code(scene) {
        return Ok(None);
    }
    let network = scene
        .agent
        .spec
        .sandbox
        .as_ref()
        .and_then(|sandbox| sandbox.network.as_ref());
    let allowed = network.and_then(|network| network.allowed_domains.clone());
    let none: Vec<String> = Vec::new();
    let writable = vec![".".to_owned(), "/tmp".to_owned()];
    let settings: BTreeMap<_, BTreeMap<_, Vec<String>>> = [
        (
            "filesystem",
            [
                ("allowWrite", writable),
                ("denyRead", none.clone()),
                ("denyWrite", none.clone()),
            ]
            .into(),
        ),
        (
            "network",
            [
                ("allowedDomains", allowed.unwrap_or_default()),
                ("deniedDomains", none),
            ]
            .into(),
        ),
    ]
    .into();
    let text = json::marshal(&settings);
    text.map(Some).map_err(|source| TranslateError::Json {
        what: "srt-settings.json",
        source,
    })
}
