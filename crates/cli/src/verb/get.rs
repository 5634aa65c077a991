//! `get`: lists.

use clap::{Args, ValueEnum};
use evenkeel_api::{ListQuery, Stack};

use super::events::recent;
use super::history::revisions;
use crate::exit::Exit;
use crate::noun::agent::AgentRow;
use crate::noun::generator::GeneratorRow;
use crate::noun::stack::StackRow;
use crate::noun::tie::Tie;
use crate::remote::failure::Trouble;
use crate::remote::{Session, Verb, at_once};

/// List stacks, agents, revisions, targets, events or generators.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel get stacks
  evenkeel get agents -o wide
  evenkeel get revisions shop -o json
  evenkeel get targets --stack shop         who gets it, and why
  evenkeel get events --agent eu-1 --limit 20
  evenkeel get stacks -o name | xargs -n 1 evenkeel describe")]
pub(crate) struct Get {
    /// What to list.
    noun: Listed,

    /// Only those of these names; of revisions, the stack's name.
    names: Vec<String>,

    /// Only what is about this stack (targets, events).
    #[arg(long, value_name = "NAME")]
    stack: Option<String>,

    /// Only what is about this agent (targets, events).
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// At most so many (events, revisions).
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    #[value(alias = "stack")]
    Stacks,
    #[value(alias = "agent")]
    Agents,
    #[value(alias = "revision")]
    Revisions,
    #[value(alias = "target")]
    Targets,
    #[value(alias = "event")]
    Events,
    #[value(alias = "generator")]
    Generators,
}

impl Verb for Get {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let out = session.out;
        match self.noun {
            Listed::Stacks => {
                let stacks = session.stacks(&self.names).await?;
                out.list(&StackRow::all(session, stacks).await?)?;
            }
            Listed::Agents => out.list(&AgentRow::all(session, &self.names).await?)?,
            Listed::Revisions => self.revisions(session).await?,
            Listed::Targets => self.targets(session).await?,
            Listed::Events => {
                let (stack, agent) = (self.stack.as_deref(), self.agent.as_deref());
                out.list(&recent(session, stack, agent, self.limit).await?)?;
            }
            Listed::Generators => self.generators(session).await?,
        }
        Ok(Exit::Done)
    }
}

impl Get {
    async fn revisions(&self, session: &Session) -> anyhow::Result<()> {
        let names: Vec<_> = self.names.iter().chain(&self.stack).cloned().collect();
        if names.is_empty() {
            let text = "of which stack? `evenkeel get revisions STACK`".to_owned();
            return Err(Trouble::Usage(text).into());
        }
        let stacks: Vec<Stack> = session.stacks(&names).await?;
        let each = at_once(stacks, |stack| revisions(session, stack, self.limit)).await?;
        session
            .out
            .list(&each.into_iter().flatten().collect::<Vec<_>>())?;
        Ok(())
    }

    async fn targets(&self, session: &Session) -> anyhow::Result<()> {
        let stacks: Vec<_> = self.names.iter().chain(&self.stack).cloned().collect();
        let agents: Vec<_> = self.agent.iter().cloned().collect();
        session
            .out
            .list(&Tie::all(session, &stacks, &agents).await?)?;
        Ok(())
    }

    async fn generators(&self, session: &Session) -> anyhow::Result<()> {
        let found = if self.names.is_empty() {
            session.generators().await?
        } else {
            at_once(&self.names, |name| session.generator(name)).await?
        };
        let rows: Vec<GeneratorRow> = found.into_iter().map(Into::into).collect();
        session.out.list(&rows)?;
        Ok(())
    }
}

/// The first `limit` of a list.
pub(super) fn first(limit: u32) -> ListQuery {
    ListQuery {
        limit: Some(limit),
        ..ListQuery::default()
    }
}
