//! `drift`: what others changed in the clusters.

use clap::Args;
use evenkeel_api::{DriftQuery, FoundDrift};

use crate::exit::Exit;
use crate::noun::drift::DriftRow;
use crate::remote::{Session, Verb};

/// Show what others changed in the clusters, newest first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel drift
  evenkeel drift --stack shop --agent eu-1 -o wide

Ends with code 3 if something that is shown has not been repaired.")]
pub(crate) struct Drift {
    /// Only in this stack.
    #[arg(long, value_name = "NAME")]
    stack: Option<String>,

    /// Only of this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

impl Verb for Drift {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let mut query = DriftQuery {
            limit: Some(self.limit),
            ..DriftQuery::default()
        };
        if let Some(name) = &self.stack {
            query.stack = Some(session.stack(name).await?.id);
        }
        if let Some(name) = &self.agent {
            query.agent = Some(session.agent(name).await?.id);
        }
        let found = session.client.drift_list(&query).await?.items;
        let is_left = found.iter().any(|one| !one.record.repaired);
        session.out.list(&named(session, found).await?)?;
        Ok(if is_left { Exit::Differs } else { Exit::Done })
    }
}

async fn named(session: &Session, found: Vec<FoundDrift>) -> anyhow::Result<Vec<DriftRow>> {
    let (agents, stacks) = tokio::try_join!(session.agents(), session.stacks(&[]))?;
    let row = |found: FoundDrift| {
        let agent = agents.get(&found.agent_id);
        let stack = stacks.iter().find(|stack| stack.id == found.stack_id);
        DriftRow {
            agent: agent.map_or_else(|| found.agent_id.to_string(), |one| one.name.to_string()),
            stack: stack.map_or_else(|| found.stack_id.to_string(), |one| one.name.to_string()),
            found,
        }
    };
    Ok(found.into_iter().map(row).collect())
}
