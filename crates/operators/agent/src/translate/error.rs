//! Why an agent cannot be translated.

use super::resources::{Kind, Reference};
use crate::go::template::TemplateError;

/// Why an agent cannot be run as it is written.
#[derive(Debug, thiserror::Error)]
pub enum TranslateError {
    /// Something that the agent refers to does not exist.
    #[error("{0} does not exist")]
    NotFound(Reference),
    /// It exists, but lacks an entry.
    #[error("{reference} has no key {key:?}")]
    KeyMissing {
        /// What was looked into.
        reference: Reference,
        /// What was looked for.
        key: String,
    },
    /// It exists, but may not be used from here.
    #[error("{reference} may not be used from namespace {from}: {why}")]
    Refused {
        /// What was referred to.
        reference: Reference,
        /// From where.
        from: String,
        /// Which rule forbids it.
        why: String,
    },
    /// An agent that is a tool of itself, directly or by way of others.
    #[error("agents use each other in a circle: {}", .0.join(" -> "))]
    Circle(Vec<String>),
    /// Agents that use agents that use agents.
    #[error("the chain of agents is longer than {limit}: {}", .chain.join(" -> "))]
    TooDeep {
        /// How long it may be.
        limit: usize,
        /// How it began.
        chain: Vec<String>,
    },
    /// A type of agent that nobody knows.
    #[error("agent type {0:?} is neither Declarative nor BYO")]
    UnknownAgentType(String),
    /// A part of the text that must be there.
    #[error("{0} must be set")]
    Missing(&'static str),
    /// A word that nobody knows.
    #[error("{what} {word:?} is not known")]
    UnknownWord {
        /// What kind of word.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// A value that is not of its form.
    #[error("{what} {value:?} {problem}")]
    Malformed {
        /// What it is.
        what: &'static str,
        /// How it is written.
        value: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A system message that is not a template.
    #[error("the system message is not a valid template: {0}")]
    Template(String),
    /// The result could not be written down.
    #[error("cannot write {what} as JSON")]
    Json {
        /// What it was.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
}

impl TranslateError {
    /// One word for programs: what has to change before the agent can run.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotFound(reference) => not_found(reference.kind),
            Self::KeyMissing { reference, .. } => match reference.kind {
                Kind::Secret => "SecretKeyMissing",
                _ => "ConfigMapKeyMissing",
            },
            Self::Refused { .. } => "ReferenceRefused",
            Self::Circle(_) => "AgentCircle",
            Self::TooDeep { .. } => "AgentChainTooDeep",
            Self::Template(_) => "InvalidTemplate",
            Self::UnknownAgentType(_)
            | Self::Missing(_)
            | Self::UnknownWord { .. }
            | Self::Malformed { .. }
            | Self::Json { .. } => "InvalidSpec",
        }
    }

    /// Whether another resource could mend this, rather than the agent's own text.
    pub fn waits_for(&self) -> Option<&Reference> {
        match self {
            Self::NotFound(reference)
            | Self::KeyMissing { reference, .. }
            | Self::Refused { reference, .. } => Some(reference),
            _ => None,
        }
    }

    pub(crate) fn not_found(kind: Kind, namespace: &str, name: &str) -> Self {
        Self::NotFound(Reference::new(kind, namespace, name))
    }
}

fn not_found(kind: Kind) -> &'static str {
    match kind {
        Kind::Agent => "AgentNotFound",
        Kind::SandboxAgent => "SandboxAgentNotFound",
        Kind::ModelConfig => "ModelConfigNotFound",
        Kind::RemoteMCPServer => "RemoteMCPServerNotFound",
        Kind::MCPServer => "MCPServerNotFound",
        Kind::Service => "ServiceNotFound",
        Kind::Secret => "SecretNotFound",
        Kind::ConfigMap => "ConfigMapNotFound",
        Kind::Namespace => "NamespaceNotFound",
    }
}

impl From<TemplateError> for TranslateError {
    fn from(error: TemplateError) -> Self {
        Self::Template(error.to_string())
    }
}
