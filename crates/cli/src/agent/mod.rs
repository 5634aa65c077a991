//! `evenkeel agent`: the part that runs beside a cluster, and what the broker knows of agents.

pub(crate) mod connect;
mod manifests;
mod running;
pub(crate) mod settings;

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::remote::{Remote, failure};
use crate::verb::agent::AgentVerb;
use manifests::Manifests;
use running::Run;

/// Run an agent beside a cluster, and manage those that the broker knows.
#[derive(Debug, Args)]
pub(crate) struct AgentCommand {
    #[command(flatten)]
    remote: Remote,

    #[command(subcommand)]
    verb: AgentDeed,
}

#[derive(Debug, Subcommand)]
enum AgentDeed {
    Run(Run),
    Manifests(Manifests),
    #[command(flatten)]
    Known(AgentVerb),
}

impl AgentCommand {
    pub(crate) async fn run(self) -> anyhow::Result<Exit> {
        match self.verb {
            AgentDeed::Run(run) => run.run(&self.remote).await,
            AgentDeed::Manifests(manifests) => manifests.print(),
            AgentDeed::Known(verb) => {
                let session = self.remote.open()?;
                let done = verb.run(&session).await;
                done.map_err(|error| failure::at(error, session.broker()))
            }
        }
    }
}
