//! Assignments: who is meant to hold what, kept up to date by every write that touches it.
//!
//! The view `membership` says who is meant to hold what *now*; the table remembers who may still
//! hold what they are no longer meant to. After any change of a target, label, annotation or
//! registration the difference of the two is written down: new pairs are served, lost ones get a
//! release tombstone with a sequence id of its own. A row leaves only when its agent confirms.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use evenkeel_model::{
    AgentId, Assignment, ChangeNumber, ObjectKind, ObjectRef, Observed, SequenceId, StackId,
};
use uuid::Uuid;

use super::{control, deployments};
use crate::Result;
use crate::database::Database;
use crate::feed;
use crate::sql::{Connection, Query, Row, Stored, sql};
use crate::transaction::Transaction;

/// Every assignment at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The newest change that is contained; go on with [`changes_since`](crate::Changes).
    pub at: ChangeNumber,
    /// All assignments.
    pub assignments: Vec<Assignment>,
}

/// Where to look again after a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Everything of these agents.
    pub agents: HashSet<AgentId>,
    /// Everything of these stacks.
    pub stacks: HashSet<StackId>,
    /// These pairs.
    pub pairs: HashSet<(AgentId, StackId)>,
}

/// What is there, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// All that each of the agents has.
    pub of_agents: HashMap<AgentId, Vec<Assignment>>,
    /// What else was looked at, by agent; nothing where there is none any more.
    pub others: HashMap<AgentId, Vec<(StackId, Option<Assignment>)>>,
}

/// Who is meant to hold what.
#[async_trait]
pub trait Assignments {
    /// Everything, with the change number from which a cache can be kept up to date.
    async fn assignment_snapshot(&self) -> Result<Snapshot>;

    /// One agent's assignments in ascending order of what is to be served; stacks without a
    /// revision come first.
    async fn assignments_of_agent(&self, agent: AgentId) -> Result<Vec<Assignment>>;

    /// One stack's assignments.
    async fn assignments_of_stack(&self, stack: StackId) -> Result<Vec<Assignment>>;

    /// Looks at several places at one moment. Whoever looked at one after the other could see a
    /// later revision before an earlier one.
    async fn assignments_look(&self, places: &Places) -> Result<Look>;

    /// One assignment.
    async fn assignment_get(&self, agent: AgentId, stack: StackId) -> Result<Option<Assignment>>;
}

#[async_trait]
impl Assignments for Database {
    async fn assignment_snapshot(&self) -> Result<Snapshot> {
        let mut moment = self.snapshot().await?;
        let at = feed::newest_in(&mut moment).await?;
        let rows = moment.all(sql("SELECT * FROM assignments_wanted")).await?;
        Ok(Snapshot {
            at,
            assignments: rows.iter().map(assignment).collect::<Result<_>>()?,
        })
    }

    async fn assignments_of_agent(&self, agent: AgentId) -> Result<Vec<Assignment>> {
        self.all(of_agent(agent), assignment).await
    }

    async fn assignments_of_stack(&self, stack: StackId) -> Result<Vec<Assignment>> {
        self.all(of_stack(stack), assignment).await
    }

    async fn assignments_look(&self, places: &Places) -> Result<Look> {
        let mut moment = self.snapshot().await?;
        let mut look = Look::default();
        for &agent in &places.agents {
            let all = read(&mut moment, of_agent(agent)).await?;
            look.of_agents.insert(agent, all);
        }
        for &stack in &places.stacks {
            for found in read(&mut moment, of_stack(stack)).await? {
                look.add(found.agent_id, stack, Some(found));
            }
        }
        for &(agent, stack) in &places.pairs {
            let found = read(&mut moment, pair(agent, stack)).await?.pop();
            look.add(agent, stack, found);
        }
        Ok(look)
    }

    async fn assignment_get(&self, agent: AgentId, stack: StackId) -> Result<Option<Assignment>> {
        self.one(pair(agent, stack), assignment).await
    }
}

impl Look {
    fn add(&mut self, agent: AgentId, stack: StackId, found: Option<Assignment>) {
        self.others.entry(agent).or_default().push((stack, found));
    }
}

async fn read(moment: &mut Connection, query: Query) -> Result<Vec<Assignment>> {
    moment.all(query).await?.iter().map(assignment).collect()
}

fn of_agent(agent: AgentId) -> Query {
    sql("SELECT * FROM assignments_wanted WHERE agent_id = $1 \
         ORDER BY COALESCE(sequence_id, 0), stack_id")
    .bind(&agent)
}

fn of_stack(stack: StackId) -> Query {
    sql("SELECT * FROM assignments_wanted WHERE stack_id = $1 ORDER BY agent_id").bind(&stack)
}

fn pair(agent: AgentId, stack: StackId) -> Query {
    sql("SELECT * FROM assignments_wanted WHERE agent_id = $1 AND stack_id = $2")
        .bind(&agent)
        .bind(&stack)
}

/// The assignment as this write sees it.
pub(super) async fn find(
    tx: &mut Transaction,
    agent: AgentId,
    stack: StackId,
) -> Result<Option<Assignment>> {
    tx.one(pair(agent, stack))
        .await?
        .as_ref()
        .map(assignment)
        .transpose()
}

/// Which pairs a change may have touched.
#[derive(Clone, Copy)]
enum Scope {
    Agent(AgentId),
    Stack(StackId),
    Pair(AgentId, StackId),
}

/// Writes down what a change of the agent's labels, annotations or registrations means.
pub(super) async fn refresh_agent(tx: &mut Transaction, agent: AgentId) -> Result<()> {
    refresh(tx, Scope::Agent(agent)).await
}

/// Writes down what a change of the stack's labels or annotations means.
pub(super) async fn refresh_stack(tx: &mut Transaction, stack: StackId) -> Result<()> {
    refresh(tx, Scope::Stack(stack)).await
}

/// Writes down what a change of an explicit target means.
pub(super) async fn refresh_pair(
    tx: &mut Transaction,
    agent: AgentId,
    stack: StackId,
) -> Result<()> {
    refresh(tx, Scope::Pair(agent, stack)).await
}

async fn refresh(tx: &mut Transaction, scope: Scope) -> Result<()> {
    serve_gained(tx, scope).await?;
    serve_regained(tx, scope).await?;
    for stack in lost(tx, scope).await? {
        let tombstone = deployments::append_removal(tx, stack, ObjectKind::Release).await?;
        release(tx, scope.within(stack), tombstone).await?;
    }
    Ok(())
}

impl Scope {
    /// The same agents, this stack only.
    const fn within(self, stack: StackId) -> Self {
        match self {
            Self::Agent(agent) | Self::Pair(agent, _) => Self::Pair(agent, stack),
            Self::Stack(_) => Self::Stack(stack),
        }
    }

    fn bind(self, query: Query) -> Query {
        let (agent, stack) = match self {
            Self::Agent(agent) => (Some(agent), None),
            Self::Stack(stack) => (None, Some(stack)),
            Self::Pair(agent, stack) => (Some(agent), Some(stack)),
        };
        query.bind(&agent).bind(&stack)
    }
}

/// A statement for each scope, so that each finds its rows by an index: neither database does
/// that for `$1 IS NULL OR agent_id = $1`. `$1` is the agent, `$2` the stack.
macro_rules! scoped {
    ($scope:expr, $head:literal, in $table:literal, $tail:literal) => {
        $scope.bind(sql(match $scope {
            Scope::Agent(_) => concat!($head, $table, ".agent_id = $1 AND $2 IS NULL ", $tail),
            Scope::Stack(_) => concat!($head, $table, ".stack_id = $2 AND $1 IS NULL ", $tail),
            Scope::Pair(..) => {
                concat!(
                    $head,
                    $table,
                    ".agent_id = $1 AND ",
                    $table,
                    ".stack_id = $2 ",
                    $tail
                )
            }
        }))
    };
}

async fn serve_gained(tx: &mut Transaction, scope: Scope) -> Result<()> {
    let query = scoped!(
        scope,
        "INSERT INTO assignments (agent_id, stack_id, order_kind, ordered_at, attempts) \
         SELECT m.agent_id, m.stack_id, 'serve', $3, 0 FROM membership m WHERE ",
        in "m",
        "AND NOT EXISTS (SELECT 1 FROM assignments a \
             WHERE a.agent_id = m.agent_id AND a.stack_id = m.stack_id)"
    );
    let query = query.bind(&tx.now());
    tx.run(query).await.map(drop)
}

async fn serve_regained(tx: &mut Transaction, scope: Scope) -> Result<()> {
    let query = scoped!(
        scope,
        "UPDATE assignments SET order_kind = 'serve', order_sequence_id = NULL, \
             ordered_at = $3, attempts = 0, last_error = NULL, waiting = NULL \
         WHERE order_kind = 'release' AND ",
        in "assignments",
        "AND EXISTS (SELECT 1 FROM membership m \
             WHERE m.agent_id = assignments.agent_id AND m.stack_id = assignments.stack_id)"
    );
    let query = query.bind(&tx.now());
    tx.run(query).await.map(drop)
}

async fn lost(tx: &mut Transaction, scope: Scope) -> Result<Vec<StackId>> {
    let query = scoped!(
        scope,
        "SELECT DISTINCT stack_id FROM assignments WHERE order_kind = 'serve' AND ",
        in "assignments",
        "AND NOT EXISTS (SELECT 1 FROM membership m \
             WHERE m.agent_id = assignments.agent_id AND m.stack_id = assignments.stack_id) \
         ORDER BY stack_id"
    );
    tx.all(query)
        .await?
        .iter()
        .map(|row| row.get("stack_id"))
        .collect()
}

async fn release(tx: &mut Transaction, scope: Scope, tombstone: SequenceId) -> Result<()> {
    let query = scoped!(
        scope,
        "UPDATE assignments SET order_kind = 'release', order_sequence_id = $4, \
             ordered_at = $3, attempts = 0, last_error = NULL, waiting = NULL \
         WHERE order_kind = 'serve' AND ",
        in "assignments",
        "AND NOT EXISTS (SELECT 1 FROM membership m \
             WHERE m.agent_id = assignments.agent_id AND m.stack_id = assignments.stack_id)"
    );
    let query = query.bind(&tx.now()).bind(&tombstone);
    tx.run(query).await.map(drop)
}

/// Tells every agent that may hold the stack to remove it, also those already told to release it.
pub(super) async fn order_deletion(
    tx: &mut Transaction,
    stack: StackId,
    marker: SequenceId,
) -> Result<()> {
    let query = sql(
        "UPDATE assignments SET order_kind = 'delete', order_sequence_id = $2, \
             ordered_at = $3, attempts = 0, last_error = NULL, waiting = NULL \
         WHERE stack_id = $1",
    )
    .bind(&stack)
    .bind(&marker)
    .bind(&tx.now());
    tx.run(query).await.map(drop)
}

/// The agent has confirmed that the stack is gone.
pub(super) async fn end(tx: &mut Transaction, assignment: &Assignment) -> Result<()> {
    for forget in [
        "DELETE FROM drift_records WHERE agent_id = $1 AND stack_id = $2",
        "DELETE FROM assignments WHERE agent_id = $1 AND stack_id = $2",
    ] {
        let query = sql(forget)
            .bind(&assignment.agent_id)
            .bind(&assignment.stack_id);
        tx.run(query).await?;
    }
    Ok(())
}

/// Keeps what the agent said.
pub(super) async fn observe(
    tx: &mut Transaction,
    assignment: &Assignment,
    seen: &Observed,
) -> Result<()> {
    let query = sql(
        "UPDATE assignments SET applied = $3, attempted = $4, attempts = $5, \
             last_error = $6, reported_at = $7, health = $8, drift = $9, waiting = $10 \
         WHERE agent_id = $1 AND stack_id = $2",
    )
    .bind(&assignment.agent_id)
    .bind(&assignment.stack_id)
    .bind(&seen.applied)
    .bind(&seen.attempted)
    .bind(&seen.attempts)
    .bind(&seen.last_error)
    .bind(&seen.reported_at)
    .bind(&seen.health)
    .bind(&seen.drift)
    .bind(&seen.waiting);
    tx.run(query).await.map(drop)
}

pub(super) fn assignment(row: &Row) -> Result<Assignment> {
    Ok(Assignment {
        agent_id: row.get("agent_id")?,
        stack_id: row.get("stack_id")?,
        order: row.get("order_kind")?,
        ordered_at: row.get("ordered_at")?,
        wanted: wanted(row)?,
        control: control::read(row)?,
        asked: row.get("asked")?,
        observed: observed(row)?,
    })
}

fn wanted(row: &Row) -> Result<Option<ObjectRef>> {
    let Some(id) = Option::<Uuid>::load(row, "object_id")? else {
        return Ok(None);
    };
    Ok(Some(ObjectRef {
        id: id.into(),
        sequence_id: row.get("sequence_id")?,
        stack_id: row.get("stack_id")?,
        kind: row.get("kind")?,
        yaml_checksum: row.get("yaml_checksum")?,
        submitted_at: row.get("submitted_at")?,
        take_from: row.json("take_from")?,
    }))
}

fn observed(row: &Row) -> Result<Observed> {
    Ok(Observed {
        applied: row.get("applied")?,
        attempted: row.get("attempted")?,
        attempts: row.get("attempts")?,
        last_error: row.get("last_error")?,
        reported_at: row.get("reported_at")?,
        health: row.get("health")?,
        drift: row.get("drift")?,
        waiting: row.get("waiting")?,
    })
}
