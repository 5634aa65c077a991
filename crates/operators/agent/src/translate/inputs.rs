//! What pods were started with, piece by piece, so that people can be told why they were restarted.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::objects::{HASH_ANNOTATION, Translation};
use crate::go::json;

/// The piece that the operator was told about all agents.
const OPERATOR: &str = "operator settings";

/// So many bytes of a hash tell two pieces apart.
const LENGTH: usize = 6;

/// Fingerprints of the pieces, by names for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Inputs(BTreeMap<String, String>);

impl Inputs {
    /// The names of the pieces that differ, in order.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let mut names: Vec<_> = self.0.keys().chain(before.0.keys()).collect();
        names.sort();
        names.dedup();
        let differs = |name: &&&String| self.0.get(**name) != before.0.get(**name);
        names
            .iter()
            .filter(differs)
            .map(|name| (*name).clone())
            .collect()
    }

    /// Whether pods differ, and the operator was told something else about all agents since.
    pub fn differ_by_operator(&self, before: &Self) -> bool {
        let changed = self.changed_since(before);
        changed.len() > 1 && changed.iter().any(|name| name == OPERATOR)
    }

    fn add(&mut self, name: impl Into<String>, text: &str) {
        let digest = Sha256::digest(text);
        self.0.insert(name.into(), hex::encode(&digest[..LENGTH]));
    }
}

impl Translation {
    /// Fingerprints of all that the pods are started with.
    pub fn inputs(&self) -> Inputs {
        let mut inputs = Inputs::default();
        inputs.add(OPERATOR, &self.settings);
        self.add_config(&mut inputs);
        for (file, text) in self.files() {
            match file {
                "agent-card.json" => inputs.add("agent card", text),
                "srt-settings.json" => inputs.add("sandbox settings", text),
                _ => {}
            }
        }
        for (name, hash) in &self.secret_hashes {
            inputs.add(name, hash);
        }
        let skills = self.skills.as_ref().and_then(|map| map.data.as_ref());
        for text in skills.iter().flat_map(|data| data.values()) {
            inputs.add("skills", text);
        }
        self.add_pod(&mut inputs);
        inputs
    }

    fn add_config(&self, inputs: &mut Inputs) {
        let config = &self.config;
        for server in config.http_tools.iter().chain(&config.sse_tools) {
            inputs.add(format!("tools of {}", server.params.url), &text(server));
        }
        for agent in &config.remote_agents {
            inputs.add(format!("agent {}", agent.name), &text(agent));
        }
        let fields: Value = serde_json::from_str(&text(config)).unwrap_or_default();
        for (field, value) in fields.as_object().into_iter().flatten() {
            let name = match field.as_str() {
                "http_tools" | "sse_tools" | "remote_agents" => continue,
                "instruction" => "system message",
                "context_config" => "context",
                "execute_code" => "code execution",
                "share_tools" => "tool sharing",
                other => other,
            };
            inputs.add(name, &value.to_string());
        }
    }

    /// The rest of the pod, without the hash of everything else.
    fn add_pod(&self, inputs: &mut Inputs) {
        let Some(mut template) = self.deployment.spec.clone().map(|spec| spec.template) else {
            return;
        };
        let meta = template.metadata.as_mut();
        if let Some(annotations) = meta.and_then(|meta| meta.annotations.as_mut()) {
            annotations.remove(HASH_ANNOTATION);
        }
        let container = template
            .spec
            .as_mut()
            .and_then(|spec| spec.containers.first_mut());
        if let Some(container) = container {
            inputs.add("image", container.image.take().unwrap_or_default().as_str());
            inputs.add("environment", &text(&container.env.take()));
            inputs.add("resources", &text(&container.resources.take()));
        }
        inputs.add("pod template", &text(&template));
    }
}

fn text<T: Serialize>(value: &T) -> String {
    json::marshal(value).unwrap_or_default()
}
