//! Documents that describe agents and all that they refer to.

use evenkeel_manifest::{Limits, ManifestError};
use kube::ResourceExt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::defaults::By;
use super::{defaults, resource};
use crate::api::Agent;
use crate::translate::settings::KnownNamespaces;
use crate::translate::{Resources, Settings, TranslateError, Translation, translate};

/// The namespace of documents that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// Why documents cannot be shown as objects.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// A file is not of a form that is understood.
    #[error("cannot read {file}")]
    Unreadable {
        /// Which file.
        file: String,
        /// Why.
        source: ManifestError,
    },
    /// A document is not what its kind says.
    #[error("cannot read {what} in {file}")]
    NotOfItsKind {
        /// Which file.
        file: String,
        /// Kind and name.
        what: String,
        /// Why.
        source: serde_json::Error,
    },
    /// There is no such agent.
    #[error("there is no Agent {wanted} in the documents; there is {known}")]
    NoSuchAgent {
        /// Which was wanted.
        wanted: String,
        /// Which there are.
        known: String,
    },
    /// There is no agent at all.
    #[error("there is no Agent in the documents")]
    NoAgents,
    /// An agent cannot be translated.
    #[error("cannot translate Agent {agent}")]
    Untranslatable {
        /// Which agent.
        agent: AgentName,
        /// Why.
        source: Box<TranslateError>,
    },
}

/// Which agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl std::fmt::Display for AgentName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Everything that was read.
#[derive(Debug, Clone)]
pub struct Documents {
    /// What the files say about all agents, and may be overruled.
    pub settings: Settings,
    resources: Resources,
    namespace: Option<String>,
    target: Option<String>,
    filled: By,
}

/// A file in the form of kagent's golden tests.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoldenFile {
    objects: Vec<Value>,
    target_object: Option<String>,
    namespace: Option<String>,
    #[serde(rename = "proxyURL")]
    proxy_url: Option<String>,
    default_service_account_name: Option<String>,
}

impl Documents {
    /// Nothing yet; documents and agents without a namespace are taken to be in `namespace`.
    pub fn new(namespace: Option<String>) -> Self {
        let settings = Settings {
            namespaces: KnownNamespaces::Assumed,
            ..Settings::default()
        };
        Self {
            settings,
            resources: Resources::default(),
            namespace,
            target: None,
            filled: By::Go,
        }
    }

    /// The same for documents as an API server would keep them: what their authors left out is
    /// filled in. kagent's golden files never saw a server.
    pub fn as_served(namespace: Option<String>) -> Self {
        Self {
            filled: By::Server,
            ..Self::new(namespace)
        }
    }

    /// Reads one file, in either form.
    ///
    /// # Errors
    /// When it is in neither.
    pub fn read(&mut self, file: &str, text: &str) -> Result<(), OfflineError> {
        match golden_file(text) {
            Some(golden) => self.read_golden(file, golden),
            None => self.read_manifest(file, text),
        }
    }

    fn read_golden(&mut self, file: &str, golden: GoldenFile) -> Result<(), OfflineError> {
        self.target = golden.target_object.or(self.target.take());
        self.namespace = self.namespace.take().or(golden.namespace);
        self.settings.proxy_url = golden.proxy_url.filter(|url| !url.is_empty());
        let account = golden.default_service_account_name;
        self.settings.default_service_account = account.filter(|name| !name.is_empty());
        let list = json!({"apiVersion": "v1", "kind": "List", "items": golden.objects});
        self.read_manifest(file, &list.to_string())
    }

    fn read_manifest(&mut self, file: &str, text: &str) -> Result<(), OfflineError> {
        let documents = evenkeel_manifest::parse(text, Limits::NONE).map_err(|source| {
            OfflineError::Unreadable {
                file: file.to_owned(),
                source,
            }
        })?;
        let namespace = self.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
        for mut document in documents {
            defaults::fill(&mut document.object, self.filled);
            let what = format!("{} {}", document.id.kind, document.id.name);
            resource::insert(document, namespace, &mut self.resources).map_err(|source| {
                OfflineError::NotOfItsKind {
                    file: file.to_owned(),
                    what,
                    source,
                }
            })?;
        }
        if self
            .resources
            .all::<k8s_openapi::api::core::v1::Namespace>()
            .next()
            .is_some()
        {
            self.settings.namespaces = KnownNamespaces::Fetched;
        }
        Ok(())
    }

    /// The agents that are meant: the one of this name, else the one that a file names, else all.
    ///
    /// # Errors
    /// When there is none.
    pub fn agents(&self, name: Option<&str>) -> Result<Vec<AgentName>, OfflineError> {
        let name = name.or(self.target.as_deref());
        let all: Vec<_> = self.resources.all::<Agent>().map(name_of).collect();
        let here = |agent: &AgentName| {
            self.namespace
                .as_deref()
                .is_none_or(|namespace| agent.namespace == namespace)
        };
        let named = |agent: &AgentName| name.is_none_or(|name| agent.name == name);
        let meant: Vec<_> = all
            .iter()
            .filter(|agent| named(agent) && here(agent))
            .cloned()
            .collect();
        match (meant.is_empty(), all.is_empty()) {
            (false, _) => Ok(meant),
            (true, true) => Err(OfflineError::NoAgents),
            (true, false) => Err(OfflineError::NoSuchAgent {
                wanted: self.wanted(name),
                known: all
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    fn wanted(&self, name: Option<&str>) -> String {
        let namespace = self.namespace.as_deref().unwrap_or("*");
        format!("{namespace}/{}", name.unwrap_or("*"))
    }

    /// Hashes the Secrets of models and servers, as the operator does: for whoever compares with
    /// a cluster. kagent's golden files know no such hashes.
    pub fn hash_secrets(&mut self) {
        // What is not among the documents cannot be hashed, and is told when it is needed.
        let _ = crate::operator::stamp_secrets(&mut self.resources);
    }

    /// What the operator would make of an agent.
    ///
    /// # Errors
    /// When it is not there or cannot be translated.
    pub fn translate(&self, agent: &AgentName) -> Result<Translation, OfflineError> {
        let found = self.resources.find::<Agent>(&agent.namespace, &agent.name);
        let found = found.ok_or(OfflineError::NoAgents)?;
        translate(found, &self.resources, &self.settings).map_err(|source| {
            OfflineError::Untranslatable {
                agent: agent.clone(),
                source: Box::new(source),
            }
        })
    }
}

fn name_of(agent: &Agent) -> AgentName {
    AgentName {
        namespace: agent.namespace().unwrap_or_default(),
        name: agent.name_any(),
    }
}

/// The file, if it is in the form of kagent's golden tests.
fn golden_file(text: &str) -> Option<GoldenFile> {
    let options = serde_saphyr::options! { strict_booleans: true, legacy_octal_numbers: true };
    let value: Value = serde_saphyr::from_str_with_options(text, options).ok()?;
    if value.get("kind").is_some() {
        return None;
    }
    serde_json::from_value(value).ok()
}
