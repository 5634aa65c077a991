//! `diff`: what a revision would change, before it does.

mod compare;
mod mask;
pub(crate) mod render;

use std::io::{self, Write};

use clap::Args;

use super::contents::newest_text;
use super::source::Source;
use crate::exit::Exit;
use crate::noun::change::Change;
use crate::remote::{Session, Verb};

/// Show what manifests would change in a stack.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel diff -f shop/ --stack shop            against the newest revision
  evenkeel diff -f shop/ --stack shop -o name    only which objects

Ends with code 3 if there are differences, with 0 if there are none. Values in Secrets are shown
as short hashes.")]
pub(crate) struct Diff {
    #[command(flatten)]
    source: Source,

    /// The stack: its name, or generator/name.
    #[arg(long, value_name = "NAME")]
    stack: String,
}

impl Verb for Diff {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let manifests = self.source.read()?;
        let before = match session.stack_if_there(&self.stack).await? {
            Some(stack) => newest_text(session, &stack).await?,
            None => String::new(),
        };
        let changes = compare::changes(&before, &manifests.text)?;
        show(session, &changes)?;
        Ok(if changes.is_empty() {
            Exit::Done
        } else {
            Exit::Differs
        })
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
