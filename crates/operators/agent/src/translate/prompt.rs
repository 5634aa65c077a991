//! What an agent is told before the first message.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;

use super::config::AgentConfig;
use super::error::TranslateError;
use super::{Scene, skills, values};
use crate::api::agent::{DeclarativeAgent, PromptSource};
use crate::go::template::{self, Value};

/// The system message as it is written.
pub(super) fn message(
    scene: &Scene<'_>,
    declarative: &DeclarativeAgent,
) -> Result<String, TranslateError> {
    if let Some(source) = &declarative.system_message_from {
        return values::value_of(source, scene.namespace(), scene.resources);
    }
    let message = declarative
        .system_message
        .clone()
        .filter(|message| !message.is_empty());
    message.ok_or(TranslateError::Missing(
        "systemMessage or systemMessageFrom",
    ))
}

/// The system message, carried out if it is a template.
pub(super) fn instruction(
    message: String,
    scene: &Scene<'_>,
    declarative: &DeclarativeAgent,
    config: &AgentConfig,
) -> Result<String, TranslateError> {
    let template = declarative.prompt_template.as_ref();
    let sources = template.and_then(|template| template.data_sources.as_deref());
    let sources = sources.unwrap_or_default();
    if sources.is_empty() {
        return Ok(message);
    }
    let texts = texts(sources, scene)?;
    let include = |name: &str| {
        texts.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = texts.keys().map(String::as_str).collect();
            format!(
                "there is no text {name:?} to include; there are {}",
                known.join(", ")
            )
        })
    };
    Ok(template::render(&message, &data(scene, config), &include)?)
}

/// All texts that may be included, as `source/key`.
fn texts(
    sources: &[PromptSource],
    scene: &Scene<'_>,
) -> Result<BTreeMap<String, String>, TranslateError> {
    let mut texts = BTreeMap::new();
    for source in sources {
        let map: &ConfigMap = scene.resources.need(scene.namespace(), &source.name)?;
        let alias = source.alias.as_deref().filter(|alias| !alias.is_empty());
        let called = alias.unwrap_or(&source.name);
        for (key, text) in map.data.iter().flatten() {
            let name = format!("{called}/{key}");
            if texts.insert(name.clone(), text.clone()).is_some() {
                return Err(TranslateError::Malformed {
                    what: "prompt source",
                    value: name,
                    problem: "is there twice".to_owned(),
                });
            }
        }
    }
    Ok(texts)
}

/// What a template can speak of.
fn data(scene: &Scene<'_>, config: &AgentConfig) -> Value {
    let servers = config.http_tools.iter().chain(&config.sse_tools);
    let tools = servers.flat_map(|server| server.tools.iter().cloned());
    let text = |text: &str| Value::Text(text.to_owned());
    Value::Record(
        [
            ("AgentName", text(scene.name())),
            ("AgentNamespace", text(scene.namespace())),
            (
                "Description",
                text(scene.agent.spec.description.as_deref().unwrap_or_default()),
            ),
            ("ToolNames", list(tools)),
            (
                "SkillNames",
                list(skills::names(scene.agent.spec.skills.as_ref()).into_iter()),
            ),
        ]
        .into(),
    )
}

fn list(texts: impl Iterator<Item = String>) -> Value {
    Value::List(texts.map(Value::Text).collect())
}
