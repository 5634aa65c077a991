//! `operator orphans`: what would be removed from the cloud, and why.

use std::io::{self, Write};

use anyhow::bail;
use clap::Args;
use evenkeel_shape_operator::survey::would_remove;

use super::running::Run;
use crate::exit::Exit;

/// Print the cloud's shapes that nobody declares and that would be removed. Removes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel operator orphans --shapes-cloud http://shapes --kubeconfig eu-1.yaml")]
pub(crate) struct Orphans {
    #[command(flatten)]
    run: Run,
}

impl Orphans {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let Some(transport) = self.run.shape.transport()? else {
            bail!("say which cloud: --shapes-cloud URL");
        };
        let client = self.run.way().await?.client;
        let doomed = would_remove(client, transport, &self.run.shape.settings()?).await?;
        let mut out = io::stdout().lock();
        for doomed in &doomed {
            let shape = &doomed.shape;
            writeln!(
                out,
                "{}  {} {} {}: {}",
                shape.id, shape.colour, shape.form, shape.name, doomed.why
            )?;
        }
        writeln!(
            out,
            "{} of the cloud's shapes would be removed",
            doomed.len()
        )?;
        Ok(Exit::Done)
    }
}
