//! Against the clusters themselves, through the agents that serve the stack.

use std::time::Duration;

use evenkeel_api::{Diff as Answers, NewDiff, Stack};
use evenkeel_model::{AgentId, DiffId, ObjectDiff};
use tokio::time::{Instant, sleep};

use crate::noun::change::Change;
use crate::remote::Session;
use crate::remote::failure::Trouble;

/// How often to look for answers.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What each agent's cluster would see, and who did not answer in time.
pub(super) struct Live {
    pub(super) changes: Vec<Change>,
    pub(super) missing: Vec<String>,
}

/// Asks every agent that serves the stack, and waits for what they say.
pub(super) async fn ask(
    session: &Session,
    stack: &Stack,
    text: String,
    timeout: Duration,
) -> anyhow::Result<Live> {
    let new = NewDiff { yaml_content: text };
    let ticket = session.client.diff_create(stack.id, &new).await?;
    if ticket.agents.is_empty() {
        let stack = format!("stack {}", stack.name);
        return Err(Trouble::Nobody { stack }.into());
    }
    let answers = answers(session, stack, ticket.id, timeout).await?;
    let agents = session.agents().await?;
    let name = |id: AgentId| {
        agents
            .get(&id)
            .map_or(id.to_string(), |one| one.name.to_string())
    };
    let mut live = Live {
        changes: Vec::new(),
        missing: answers.missing.into_iter().map(&name).collect(),
    };
    for answer in answers.answers {
        let agent = name(answer.agent_id);
        if let Some(error) = answer.answer.error {
            live.missing.push(format!("{agent} ({error})"));
        }
        let change = |diff: ObjectDiff| Change {
            agent: Some(agent.clone()),
            diff,
        };
        let found = answer.answer.objects.into_iter().map(change);
        live.changes.extend(found.filter(Change::is_one));
    }
    Ok(live)
}

async fn answers(
    session: &Session,
    stack: &Stack,
    id: DiffId,
    timeout: Duration,
) -> anyhow::Result<Answers> {
    let deadline = Instant::now() + timeout;
    loop {
        let known = session.client.diff_get(stack.id, id).await?;
        if known.missing.is_empty() || Instant::now() >= deadline {
            return Ok(known);
        }
        sleep(LOOK_EVERY).await;
    }
}
