//! `reconcile`, `suspend`, `resume`, `approve`, `stack drift-mode`: what people ask of a stack
//! beyond its revisions.

use anyhow::Context;
use clap::{Args, ValueEnum};
use evenkeel_api::Stack;
use evenkeel_client::ClientError;
use evenkeel_model::{DriftMode as Mode, SequenceId};

use super::ask::may_go_on;
use super::wait::WaitOptions;
use crate::exit::Exit;
use crate::noun::progress::ProgressRow;
use crate::noun::stack::StackRow;
use crate::remote::{Session, Verb};

/// Have every agent look at the whole stack anew and put right what differs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel reconcile shop
  evenkeel reconcile shop payments --wait")]
pub(crate) struct Reconcile {
    /// The stacks.
    #[arg(required = true)]
    stacks: Vec<String>,

    #[command(flatten)]
    wait: WaitOptions,
}

/// Have every agent leave a stack alone: nothing applied, pruned or repaired.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel suspend shop       then work on it by hand, then `evenkeel resume shop`

Agents go on reporting its health.")]
pub(crate) struct Suspend {
    /// The stacks.
    #[arg(required = true)]
    stacks: Vec<String>,
}

/// Have every agent go on with a stack that was suspended.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel resume shop --wait")]
pub(crate) struct Resume {
    /// The stacks.
    #[arg(required = true)]
    stacks: Vec<String>,

    #[command(flatten)]
    wait: WaitOptions,
}

/// Let deletions go on that wait for somebody's word.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel approve shop                shows what waits, and asks
  evenkeel approve shop --revision 12 --yes

A revision that would delete much of a stack, or a Namespace or definition that holds what others
made, waits; everything else of that revision goes on meanwhile.")]
pub(crate) struct Approve {
    /// The stack.
    stack: String,

    /// The revision whose deletions may go on [default: the newest on which an agent waits].
    #[arg(long, value_name = "REVISION")]
    revision: Option<SequenceId>,

    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
}

/// Say what agents do about changes that others make to the objects of a stack.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel stack drift-mode shop warn        tell, and leave it; `evenkeel drift` shows it
  evenkeel stack drift-mode shop agent       each agent again as its own settings say

A new revision and `evenkeel reconcile` restore everything whatever the mode.")]
pub(super) struct DriftMode {
    /// The stack.
    stack: String,

    /// What becomes of drift.
    mode: Choice,
}

/// What becomes of drift.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Choice {
    /// Nobody looks.
    Off,
    /// It is told, and left.
    Warn,
    /// It is repaired.
    Enforce,
    /// What each agent's own settings say.
    Agent,
}

impl Choice {
    const fn mode(self) -> Option<Mode> {
        match self {
            Self::Off => Some(Mode::Off),
            Self::Warn => Some(Mode::Warn),
            Self::Enforce => Some(Mode::Enforce),
            Self::Agent => None,
        }
    }
}

impl Verb for DriftMode {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let stack = session.stack(&self.stack).await?;
        let mode = self.mode.mode();
        let asked = session.client.stack_drift_mode(stack.id, mode).await;
        let what = mode.map_or("left to each agent's settings".to_owned(), |mode| {
            format!("set to drift mode {mode}")
        });
        told(session, stack, asked, &what, &WaitOptions::NO).await?;
        Ok(Exit::Done)
    }
}

impl Verb for Reconcile {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        for stack in session.stacks(&self.stacks).await? {
            let asked = session.client.stack_reconcile(stack.id).await;
            told(session, stack, asked, "will be looked at anew", &self.wait).await?;
        }
        Ok(Exit::Done)
    }
}

impl Verb for Suspend {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        for stack in session.stacks(&self.stacks).await? {
            let asked = session.client.stack_suspend(stack.id).await;
            told(session, stack, asked, "suspended", &WaitOptions::NO).await?;
        }
        Ok(Exit::Done)
    }
}

impl Verb for Resume {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        for stack in session.stacks(&self.stacks).await? {
            let asked = session.client.stack_resume(stack.id).await;
            told(session, stack, asked, "resumed", &self.wait).await?;
        }
        Ok(Exit::Done)
    }
}

impl Verb for Approve {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let stack = session.stack(&self.stack).await?;
        if !self.yes {
            preview(session, &stack).await?;
        }
        if !may_go_on(self.yes, "Let these deletions go on?")? {
            session.out.say("nothing was approved")?;
            return Ok(Exit::Failed);
        }
        let asked = session.client.stack_approve(stack.id, self.revision).await;
        told(session, stack, asked, "approved", &WaitOptions::NO).await?;
        Ok(Exit::Done)
    }
}

/// Says that it was done, and waits if that was asked for.
async fn told(
    session: &Session,
    stack: Stack,
    asked: Result<Stack, ClientError>,
    what: &str,
    wait: &WaitOptions,
) -> anyhow::Result<()> {
    let name = stack.name;
    let stack = asked.with_context(|| format!("stack {name} cannot be {what}"))?;
    let row = StackRow::of(session, stack.clone()).await?;
    session.out.done(&row, &format!("stack/{name} {what}"))?;
    wait.wait(session, &stack, stack.newest_sequence_id).await
}

async fn preview(session: &Session, stack: &Stack) -> anyhow::Result<()> {
    let rows = ProgressRow::all(session, &[stack.id.to_string()]).await?;
    for row in rows {
        if let Some(waiting) = row.status.waiting {
            session
                .out
                .say(&format!("{} waits: {waiting}", row.agent))?;
        }
    }
    Ok(())
}
