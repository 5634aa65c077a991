//! Agents, models and servers in a cluster, kept as people declare them.
//!
//! Three controllers share one process. That of agents gathers what an agent refers to, translates
//! it, converges the objects and reports; those of models and of remote MCP servers say whether what
//! they describe can be used, and which tools a server offers.
//!
//! ```text
//! Agent ─▶ references ─▶ gather ─▶ secrets ─▶ translate ─▶ children ─▶ verdicts
//!              └── what a run looked at wakes it again, however far away it is
//! ```
//!
//! Read [`agent`] first, then `references` and `gather` (what it looks at), `secrets` (what their
//! contents add to the hash), `children` (how objects are kept), `turns` (who restarts pods first),
//! `verdicts`, `told` and `numbers` (what is said and counted); then [`model_config`] and [`remote_mcp_server`]; [`install`] is how it gets into a cluster,
//! [`preview`] what it would change there.

pub mod agent;
mod children;
mod error;
mod gather;
pub mod install;
pub mod model_config;
mod numbers;
pub mod preview;
mod references;
pub mod remote_mcp_server;
mod secrets;
mod told;
mod turns;
mod verdicts;

use std::num::NonZeroUsize;
use std::time::Duration;

use evenkeel_controller::Manager;

pub use error::OperatorError;
pub use numbers::Numbers;
pub(crate) use secrets::stamp as stamp_secrets;

use crate::translate::Settings;

/// How the operator works.
#[derive(Debug, Clone)]
pub struct Options {
    /// What all agents have in common.
    pub settings: Settings,
    /// How often servers are asked which tools they offer.
    pub refresh: Duration,
    /// How many agents restart their pods at once when the settings change.
    pub rollouts: NonZeroUsize,
    /// What is counted.
    pub numbers: Numbers,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            refresh: Duration::from_secs(60),
            rollouts: NonZeroUsize::new(10).unwrap_or(NonZeroUsize::MIN),
            numbers: Numbers::default(),
        }
    }
}

/// Also runs the controllers of this operator.
#[must_use]
pub fn with_controllers(manager: Manager, options: Options) -> Manager {
    let watched = options.settings.watched.clone();
    manager
        .with(model_config::controller(watched.clone()))
        .with(remote_mcp_server::controller(watched, options.refresh))
        .with(agent::controller(options))
}

/// Whether resources of a namespace are this operator's business.
fn is_watched(
    watched: Option<&std::collections::BTreeSet<String>>,
    resource: &impl kube::ResourceExt,
) -> bool {
    let namespace = resource.namespace().unwrap_or_default();
    watched.is_none_or(|watched| watched.contains(&namespace))
}

/// Whether somebody keeps the operator's hands off a resource.
fn is_paused(resource: &impl kube::ResourceExt) -> bool {
    let annotation = resource.annotations().get(crate::PAUSE_ANNOTATION);
    annotation.is_some_and(|value| value == "true")
}
