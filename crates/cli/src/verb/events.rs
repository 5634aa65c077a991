//! `events`: what agents reported, as it comes.

use std::collections::HashSet;
use std::time::Duration;

use clap::Args;
use evenkeel_api::AgentEvent;
use evenkeel_model::{EventId, StackId};
use tokio::time::sleep;

use super::get::first;
use crate::exit::Exit;
use crate::noun::event::{EventRow, Subjects};
use crate::remote::{Session, Verb};
use crate::signals;

/// How often to look for more.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Show what agents reported, and go on with --follow.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel events
  evenkeel events --follow --stack shop
  evenkeel events --agent eu-1 -o json")]
pub(crate) struct Events {
    /// Go on as more come, until Ctrl-C.
    #[arg(long)]
    follow: bool,

    /// Only of this stack.
    #[arg(long, value_name = "NAME")]
    stack: Option<String>,

    /// Only of this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// At most so many to begin with.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

impl Verb for Events {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let (stack, agent) = (self.stack.as_deref(), self.agent.as_deref());
        if !self.follow {
            session
                .out
                .list(&recent(session, stack, agent, self.limit).await?)?;
            return Ok(Exit::Done);
        }
        let mut follower = Follower::default();
        loop {
            follower.look(session, &self).await?;
            tokio::select! {
                stopped = signals::told_to_stop() => {
                    stopped?;
                    return Ok(Exit::Done);
                }
                () = sleep(LOOK_EVERY) => {}
            }
        }
    }
}

/// The newest events, newest first.
pub(super) async fn recent(
    session: &Session,
    stack: Option<&str>,
    agent: Option<&str>,
    limit: u32,
) -> anyhow::Result<Vec<EventRow>> {
    let events = ask(session, agent, limit).await?;
    let mut rows = Subjects::default().name(session, events).await?;
    if let Some(stack) = stack {
        let id = session.stack(stack).await?.id;
        rows.retain(|row| row.stack_id() == Some(id));
    }
    Ok(rows)
}

async fn ask(
    session: &Session,
    agent: Option<&str>,
    limit: u32,
) -> anyhow::Result<Vec<AgentEvent>> {
    let page = match agent {
        Some(name) => {
            let agent = session.agent(name).await?;
            session.client.agent_events(agent.id, &first(limit)).await?
        }
        None => session.client.event_list(&first(limit)).await?,
    };
    Ok(page.items)
}

/// Shows each event once, oldest first, as one reads a log.
#[derive(Default)]
struct Follower {
    seen: HashSet<EventId>,
    subjects: Subjects,
    stack: Option<StackId>,
}

impl Follower {
    async fn look(&mut self, session: &Session, events: &Events) -> anyhow::Result<()> {
        if let (Some(name), None) = (&events.stack, self.stack) {
            self.stack = Some(session.stack(name).await?.id);
        }
        let mut new = ask(session, events.agent.as_deref(), events.limit).await?;
        new.retain(|event| self.seen.insert(event.id));
        new.reverse();
        let mut rows = self.subjects.name(session, new).await?;
        rows.retain(|row| self.stack.is_none() || row.stack_id() == self.stack);
        session.out.more(&rows)?;
        Ok(())
    }
}
