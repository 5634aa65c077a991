//! `operator manifests`: how the Agent operator gets into a cluster.

use std::io::{self, Write};
use std::sync::Arc;

use clap::Args;
use evenkeel_agent_operator::operator::install::Installation;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_controller::Manager;

use super::running::nobody;
use crate::exit::Exit;
use crate::output::yaml;

/// Print everything that runs the Agent operator in a cluster: definitions, rights, Deployment.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel operator manifests | kubectl apply --server-side -f -
  evenkeel operator manifests --namespace agents --image registry.example.com/evenkeel:1.0")]
pub(crate) struct Manifests {
    /// The namespace of the operator.
    #[arg(short, long, value_name = "NS", default_value = "evenkeel-system")]
    namespace: String,

    /// The image of Evenkeel.
    #[arg(long, value_name = "IMAGE", default_value = concat!("ghcr.io/evenkeel/evenkeel:", env!("CARGO_PKG_VERSION")))]
    image: String,

    /// How many processes; one of them works, the others stand by.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    replicas: u32,
}

impl Manifests {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let installation = Installation {
            namespace: self.namespace,
            image: self.image,
            replicas: self.replicas,
        };
        let mut out = io::stdout().lock();
        for object in installation.manifests(idle_manager()) {
            write!(out, "---\n{}", yaml(&object))?;
        }
        Ok(Exit::Done)
    }
}

/// A manager that is asked for rights and never run.
fn idle_manager() -> Manager {
    let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    Manager::new(nobody(), clock, dice, &mut Default::default())
}
