//! The card by which an agent introduces itself to other agents.

use serde::Serialize;

use super::Scene;
use crate::api::agent::A2aSkill;

const OLD_PROTOCOL: &str = "0.3";
const PROTOCOL: &str = "1.0";
const TRANSPORT: &str = "JSONRPC";

/// A card that speaks the current protocol and, in its last fields, the one before.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Card {
    #[serde(flatten)]
    about: About,
    url: String,
    protocol_version: &'static str,
    preferred_transport: &'static str,
}

/// What both protocols say.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    default_input_modes: [&'static str; 1],
    default_output_modes: [&'static str; 1],
    description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    documentation_url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    icon_url: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<Provider>,
    version: String,
    skills: Vec<Skill>,
    capabilities: Capabilities,
    supported_interfaces: [Interface; 2],
}

#[derive(Debug, Clone, Serialize)]
struct Provider {
    organization: String,
    url: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Skill {
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
    id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    input_modes: Vec<String>,
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    output_modes: Vec<String>,
    tags: Option<Vec<String>>,
}

#[derive(Debug, Clone, Serialize)]
struct Capabilities {
    streaming: bool,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Interface {
    url: String,
    protocol_binding: &'static str,
    protocol_version: &'static str,
}

impl Card {
    /// Where the agent listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The card without the fields of the older protocol.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }
}

pub(super) fn card(scene: &Scene<'_>) -> Card {
    let spec = &scene.agent.spec;
    let url = format!("http://{}.{}:8080", scene.name(), scene.namespace());
    let provider = spec.provider.as_ref().map(|provider| Provider {
        organization: provider.organization.clone(),
        url: provider.url.clone(),
    });
    let about = About {
        default_input_modes: ["text"],
        default_output_modes: ["text"],
        description: spec.description.clone().unwrap_or_default(),
        documentation_url: spec.documentation_url.clone().unwrap_or_default(),
        icon_url: spec.icon_url.clone().unwrap_or_default(),
        name: scene.name().replace('-', "_"),
        provider,
        version: spec.version.clone().unwrap_or_default(),
        skills: skills(scene),
        capabilities: Capabilities { streaming: true },
        supported_interfaces: [interface(&url, OLD_PROTOCOL), interface(&url, PROTOCOL)],
    };
    Card {
        about,
        url,
        protocol_version: OLD_PROTOCOL,
        preferred_transport: TRANSPORT,
    }
}

fn interface(url: &str, protocol_version: &'static str) -> Interface {
    Interface {
        url: url.to_owned(),
        protocol_binding: TRANSPORT,
        protocol_version,
    }
}

fn skills(scene: &Scene<'_>) -> Vec<Skill> {
    let spec = &scene.agent.spec;
    let declared = spec
        .declarative
        .as_ref()
        .filter(|_| spec.r#type.as_deref() != Some("BYO"));
    let config = declared.and_then(|declarative| declarative.a2a_config.as_ref());
    let skills = config
        .and_then(|config| config.skills.as_deref())
        .unwrap_or_default();
    skills.iter().map(skill).collect()
}

fn skill(skill: &A2aSkill) -> Skill {
    Skill {
        description: skill.description.clone().unwrap_or_default(),
        examples: skill.examples.clone().unwrap_or_default(),
        id: skill.id.clone().unwrap_or_default(),
        input_modes: skill.input_modes.clone().unwrap_or_default(),
        name: skill.name.clone(),
        output_modes: skill.output_modes.clone().unwrap_or_default(),
        tags: skill.tags.clone(),
    }
}
