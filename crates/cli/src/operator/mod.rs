//! `operator`: controllers inside a cluster, and what they would do.

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
    Render(render::Render),
}

impl OperatorNoun {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        match self.verb {
            OperatorVerb::Render(render) => render.run(),
        }
    }
}
