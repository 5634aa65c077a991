//! From resources to what runs: a pure function.
//!
//! [`translate`] is given an agent and everything that it refers to, already fetched, and returns
//! the configuration that the agent's pods read, its card, and the objects that run it. It reads no
//! clock, no environment and no cluster, so the same input gives the same bytes anywhere: in the
//! operator, in `evenkeel operator render`, and in kagent.
//!
//! ```text
//! Agent + Resources + Settings ──▶ config.json, card ──▶ pod ──▶ Secret, ServiceAccount, ConfigMap, Deployment, Service
//!                                        └── hash ──────────────────────────────────────────┘
//! ```
//!
//! Read in this order: [`resources`] and [`settings`] (what it is given), `declarative` and `byo`
//! (the two kinds of agents) with [`model`], `tools`, `prompt` and `values`; `config` and `card`
//! (what pods read); `skills`, `pod`, `workload` and `objects` (what runs them); `hash`
//! and `inputs`
//! (when they are restarted, and why); [`output`] (how it is shown).

mod byo;
mod card;
pub(crate) mod chain;
mod config;
pub(crate) mod declarative;
mod error;
mod hash;
mod inputs;
pub mod model;
mod namespaces;
mod objects;
pub mod output;
mod parts;
mod pod;
mod prompt;
pub(crate) mod proxy;
pub mod resources;
mod sandbox;
pub(crate) mod server;
pub mod settings;
mod skills;
pub(crate) mod tls;
pub(crate) mod tools;
pub(crate) mod values;
mod workload;

pub use error::TranslateError;
pub use inputs::Inputs;
pub use objects::{HASH_ANNOTATION, Translation};
pub use resources::{Kind, Reference, Resources};
pub use server::{Protocol, Server};
pub use settings::Settings;

use crate::api::Agent;
use config::AgentConfig;
use workload::Workload;

/// What an agent is made of before objects are built.
struct Compiled {
    config: AgentConfig,
    workload: Workload,
    secrets: hash::Secrets,
}

/// The configuration, card and objects of an agent.
///
/// # Errors
/// When the agent cannot be run as it is written: something that it needs is missing or refused, or
/// its text makes no sense.
pub fn translate(
    agent: &Agent,
    resources: &Resources,
    settings: &Settings,
) -> Result<Translation, TranslateError> {
    let scene = Scene {
        agent,
        resources,
        settings,
    };
    namespaces::check(&scene)?;
    chain::check(&scene)?;
    let compiled = match agent.spec.r#type.as_deref() {
        Some("Declarative") | None => declarative::compile(&scene)?,
        Some("BYO") => byo::compile(&scene)?,
        Some(other) => return Err(TranslateError::UnknownAgentType(other.to_owned())),
    };
    objects::build(&scene, compiled)
}

/// What every step may look at.
#[derive(Clone, Copy)]
struct Scene<'a> {
    agent: &'a Agent,
    resources: &'a Resources,
    settings: &'a Settings,
}

impl<'a> Scene<'a> {
    fn name(&self) -> &'a str {
        self.agent.metadata.name.as_deref().unwrap_or_default()
    }

    fn namespace(&self) -> &'a str {
        self.agent.metadata.namespace.as_deref().unwrap_or_default()
    }

    fn has_skills(&self) -> bool {
        self.agent.spec.skills.is_some()
    }
}
