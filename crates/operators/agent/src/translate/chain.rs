//! Agents that use agents: never themselves, and not without end.

use super::Scene;
use super::error::TranslateError;
use super::tools::other_agent;
use crate::api::Agent;
use crate::api::tool::TypedReference;

/// How many agents may stand behind an agent.
const MAX_DEPTH: usize = 10;

/// Refuses circles, and chains that are too long.
pub(super) fn check(scene: &Scene<'_>) -> Result<(), TranslateError> {
    follow(scene, &mut vec![key(None, scene.agent)])
}

fn follow(scene: &Scene<'_>, chain: &mut Vec<String>) -> Result<(), TranslateError> {
    for reference in agents_of(scene.agent) {
        // One that is missing is told by whoever uses it directly.
        let Ok((agent, _)) = other_agent(reference, scene) else {
            continue;
        };
        let key = key(reference.kind.as_deref(), agent);
        let seen = chain.contains(&key);
        chain.push(key);
        if seen {
            return Err(TranslateError::Circle(chain.clone()));
        }
        if chain.len() > MAX_DEPTH + 1 {
            return Err(TranslateError::TooDeep {
                limit: MAX_DEPTH,
                chain: chain.clone(),
            });
        }
        follow(&Scene { agent, ..*scene }, chain)?;
        chain.pop();
    }
    Ok(())
}

/// The agents that an agent uses; one that is brought along keeps that to itself.
pub(crate) fn agents_of(agent: &Agent) -> impl Iterator<Item = &TypedReference> {
    let declared = agent.spec.declarative.as_ref();
    let declared = declared.filter(|_| agent.spec.r#type.as_deref() != Some("BYO"));
    let tools = declared.and_then(|declarative| declarative.tools.as_deref());
    let tools = tools.unwrap_or_default().iter();
    tools
        .filter(|tool| tool.mcp_server.is_none())
        .filter_map(|tool| tool.agent.as_ref())
}

fn key(kind: Option<&str>, agent: &Agent) -> String {
    let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or("Agent");
    let namespace = agent.metadata.namespace.as_deref().unwrap_or_default();
    let name = agent.metadata.name.as_deref().unwrap_or_default();
    format!("{kind} {namespace}/{name}")
}
