//! `diff`: what a revision would change, before it does.

mod compare;
mod live;
mod mask;
pub(crate) mod render;

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;

use super::contents::newest_text;
use super::source::{Manifests, Source};
use super::wait::duration;
use crate::exit::Exit;
use crate::noun::change::Change;
use crate::remote::failure::Trouble;
use crate::remote::{Session, Verb};

/// Show what manifests would change in a stack.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel diff -f shop/ --stack shop            against the newest revision
  evenkeel diff -f shop/ --stack shop --live     against the clusters, through their agents
  evenkeel diff -f shop/ --stack shop -o name    only which objects

Ends with code 3 if there are differences, with 0 if there are none, and with 4 if an agent did
not answer in time. Values in Secrets are shown as short hashes.")]
pub(crate) struct Diff {
    #[command(flatten)]
    source: Source,

    /// The stack: its name, or generator/name.
    #[arg(long, value_name = "NAME")]
    stack: String,

    /// Ask the agents what would change in their clusters; nothing is written there.
    #[arg(long)]
    live: bool,

    /// How long to wait for the agents, such as 30s.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    timeout: Duration,
}

impl Verb for Diff {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let manifests = self.source.read()?;
        if self.live {
            return self.live(session, manifests).await;
        }
        let before = match session.stack_if_there(&self.stack).await? {
            Some(stack) => newest_text(session, &stack).await?,
            None => String::new(),
        };
        let changes = compare::changes(&before, &manifests.text)?;
        show(session, &changes)?;
        Ok(verdict(&changes))
    }
}

impl Diff {
    async fn live(&self, session: &Session, manifests: Manifests) -> anyhow::Result<Exit> {
        let stack = session.stack(&self.stack).await?;
        let found = live::ask(session, &stack, manifests.text, self.timeout).await?;
        show(session, &found.changes)?;
        if found.missing.is_empty() {
            return Ok(verdict(&found.changes));
        }
        let what = "these agents gave no answer".to_owned();
        let left = found.missing;
        Err(Trouble::WaitedInVain { what, left }.into())
    }
}

const fn verdict(changes: &[Change]) -> Exit {
    if changes.is_empty() {
        Exit::Done
    } else {
        Exit::Differs
    }
}

fn show(session: &Session, changes: &[Change]) -> anyhow::Result<()> {
    let out = session.out;
    if !out.is_for_people() {
        out.list(changes)?;
    } else if changes.is_empty() {
        out.say("no differences")?;
    } else {
        let text = render::text(changes, out.palette());
        io::stdout().write_all(text.as_bytes())?;
    }
    Ok(())
}
