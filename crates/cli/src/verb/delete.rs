//! `delete`: a stack goes, everywhere.

use clap::{Args, Subcommand};
use evenkeel_api::Stack;
use evenkeel_model::AgentId;
use tokio::time::{Duration, Instant, sleep};

use super::ask::may_go_on;
use super::contents::newest_objects;
use super::wait::duration;
use crate::exit::Exit;
use crate::noun::stack::StackRow;
use crate::remote::failure::Trouble;
use crate::remote::{Session, Verb, at_once};

/// How often to look whether it is gone.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Delete a stack, and with it its objects in every cluster.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(subcommand)]
    what: Deletable,
}

#[derive(Debug, Subcommand)]
enum Deletable {
    Stack(DeleteStack),
}

/// Delete a stack and its objects in every cluster that holds it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel delete stack shop               shows what will go where, and asks
  evenkeel delete stack shop --yes --wait  until every agent has confirmed

Agents that are away are told when they come back, however long that takes.")]
struct DeleteStack {
    /// The stack: its name, or generator/name.
    stack: String,

    /// Do not ask.
    #[arg(short, long)]
    yes: bool,

    /// Wait until every agent has confirmed that it is gone.
    #[arg(long)]
    wait: bool,

    /// How long to wait, such as 90s or 10m; then the command ends with code 4.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    timeout: Duration,
}

impl Verb for Delete {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let Deletable::Stack(delete) = self.what;
        let row = StackRow::of(session, session.stack(&delete.stack).await?).await?;
        let name = row.stack.name.clone();
        if !delete.yes {
            preview(session, &row).await?;
        }
        if !may_go_on(delete.yes, &format!("Delete stack {name}?"))? {
            session.out.say("nothing was deleted")?;
            return Ok(Exit::Failed);
        }
        session.client.stack_delete(row.stack.id).await?;
        let count = row.status.len();
        let sentence =
            format!("stack/{name} deleted; {count} agents are told to remove its objects");
        session.out.done(&row, &sentence)?;
        if delete.wait {
            let agents = row.status.iter().map(|one| one.agent_id).collect();
            gone(session, &row.stack, agents, delete.timeout).await?;
        }
        Ok(Exit::Done)
    }
}

/// Says what will go, and where.
async fn preview(session: &Session, row: &StackRow) -> anyhow::Result<()> {
    let agents = session.agents().await?;
    let name = |id: AgentId| {
        agents
            .get(&id)
            .map_or(id.to_string(), |one| one.name.to_string())
    };
    let mut names: Vec<_> = row.status.iter().map(|one| name(one.agent_id)).collect();
    names.sort();
    let objects = newest_objects(session, &row.stack).await?;
    if names.is_empty() {
        return Ok(session.out.say("No agent holds it.")?);
    }
    session.out.say(&format!("From {}:", names.join(", ")))?;
    objects
        .iter()
        .try_for_each(|object| session.out.say(&format!("  {object}")))?;
    Ok(())
}

/// Waits until none of these agents has anything left of the stack.
async fn gone(
    session: &Session,
    stack: &Stack,
    agents: Vec<AgentId>,
    timeout: Duration,
) -> anyhow::Result<()> {
    let deadline = Instant::now() + timeout;
    loop {
        let left = at_once(&agents, async |id| {
            let status = session.client.agent_status(*id).await?;
            Ok(status.into_iter().find(|one| one.stack_id == stack.id))
        });
        let left: Vec<_> = left.await?.into_iter().flatten().collect();
        if left.is_empty() {
            session
                .out
                .say(&format!("stack/{} is gone everywhere", stack.name))?;
            return Ok(());
        }
        if Instant::now() >= deadline {
            let what = format!("stack {} is not gone everywhere", stack.name);
            let left = left.iter().map(|one| one.agent_id.to_string()).collect();
            return Err(Trouble::WaitedInVain { what, left }.into());
        }
        sleep(LOOK_EVERY).await;
    }
}
