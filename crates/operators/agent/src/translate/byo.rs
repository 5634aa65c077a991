//! Agents that somebody else built.

use super::config::AgentConfig;
use super::error::TranslateError;
use super::hash::Secrets;
use super::{Compiled, Scene, workload};

pub(super) fn compile(scene: &Scene<'_>) -> Result<Compiled, TranslateError> {
    let byo = scene.agent.spec.byo.as_ref();
    let deployment = byo.and_then(|byo| byo.deployment.as_ref());
    let deployment = deployment.ok_or(TranslateError::Missing("spec.byo.deployment"))?;
    let config = AgentConfig {
        description: scene.agent.spec.description.clone().unwrap_or_default(),
        ..AgentConfig::default()
    };
    let workload = workload::brought(scene, deployment)?;
    Ok(Compiled {
        config,
        workload,
        secrets: Secrets::default(),
    })
}
