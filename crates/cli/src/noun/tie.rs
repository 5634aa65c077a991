//! Ties: which agent is meant to hold which stack, and why.

use std::collections::BTreeMap;

use evenkeel_api::Stack;
use evenkeel_model::{Agent, AgentId};

use crate::noun::agent::AgentRow;
use crate::noun::stack::StackRow;
use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, wide};
use crate::output::tone::Tone;
use crate::remote::{Session, at_once};

/// One agent, one stack, and what ties them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tie {
    pub(crate) stack: String,
    pub(crate) agent: String,
    pub(crate) cluster: String,
    pub(crate) because: Vec<String>,
    /// Whether the agent agreed to serve the stack's generator; else the tie does nothing.
    pub(crate) agreed: bool,
}

/// What is needed to tell who is tied to what.
struct Serving {
    row: AgentRow,
    explicit: Vec<evenkeel_model::StackId>,
    generators: Vec<evenkeel_model::GeneratorId>,
}

impl Tie {
    /// Every tie between these stacks and these agents; of all if none are named.
    pub(crate) async fn all(
        session: &Session,
        stacks: &[String],
        agents: &[String],
    ) -> anyhow::Result<Vec<Self>> {
        let stacks = StackRow::all(session, session.stacks(stacks).await?).await?;
        let agents = AgentRow::all(session, agents).await?;
        let agents = at_once(agents, |row| Serving::of(session, row)).await?;
        let pairs = stacks
            .iter()
            .flat_map(|stack| agents.iter().map(move |agent| (stack, agent)));
        Ok(pairs
            .filter_map(|(stack, agent)| agent.tie(stack))
            .collect())
    }
}

impl Serving {
    async fn of(session: &Session, row: AgentRow) -> anyhow::Result<Self> {
        let id: AgentId = row.agent.id;
        let (targets, registrations) = tokio::try_join!(
            session.client.target_list(id),
            session.client.agent_registrations(id)
        )?;
        Ok(Self {
            row,
            explicit: targets.iter().map(|target| target.stack_id).collect(),
            generators: registrations.iter().map(|one| one.generator_id).collect(),
        })
    }

    fn tie(&self, stack: &StackRow) -> Option<Tie> {
        let because = because(stack, &self.row, self.explicit.contains(&stack.stack.id));
        let agent: &Agent = &self.row.agent;
        let of: &Stack = &stack.stack;
        (!because.is_empty()).then(|| Tie {
            stack: of.name.to_string(),
            agent: agent.name.to_string(),
            cluster: agent.cluster_name.to_string(),
            because,
            agreed: self.generators.contains(&of.generator_id),
        })
    }
}

/// What the two have in common.
fn because(stack: &StackRow, agent: &AgentRow, explicit: bool) -> Vec<String> {
    let mut reasons = BTreeMap::new();
    if explicit {
        reasons.insert((0, ""), "explicit".to_owned());
    }
    for label in stack
        .labels
        .iter()
        .filter(|label| agent.labels.contains(label))
    {
        reasons.insert((1, label.as_str()), format!("label {label}"));
    }
    for said in stack
        .annotations
        .iter()
        .filter(|said| agent.annotations.contains(said))
    {
        reasons.insert((2, said.as_str()), format!("annotation {said}"));
    }
    reasons.into_values().collect()
}

impl Noun for Tie {
    const KIND: &'static str = "target";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("stack", |tie| tie.stack.as_str().into()),
            column("agent", |tie| tie.agent.as_str().into()),
            column("because", |tie| Cell::List(tie.because.clone())),
            column("served", |tie| match tie.agreed {
                true => Cell::Word("yes".to_owned(), Tone::Good),
                false => Cell::Word("no: not registered".to_owned(), Tone::Bad),
            }),
            wide("cluster", |tie| tie.cluster.as_str().into()),
        ]
    }

    fn name(&self) -> String {
        format!("{}/{}", self.stack, self.agent)
    }
}
