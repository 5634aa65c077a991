//! `operator`: controllers inside a cluster, and what they would do.

mod diff;
mod manifests;
mod render;

use clap::{Args, Subcommand};

use crate::exit::Exit;

/// Run controllers inside a cluster, and see what they would do.
#[derive(Debug, Args)]
pub(crate) struct OperatorNoun {
    #[command(subcommand)]
    verb: OperatorVerb,
}

#[derive(Debug, Subcommand)]
enum OperatorVerb {
    Manifests(manifests::Manifests),
    Render(render::Render),
    Diff(diff::Diff),
}

impl OperatorNoun {
    pub(crate) async fn run(self) -> anyhow::Result<Exit> {
        match self.verb {
            OperatorVerb::Manifests(manifests) => manifests.run(),
            OperatorVerb::Render(render) => render.run(),
            OperatorVerb::Diff(diff) => diff.run().await,
        }
    }
}
