//! Diffs: questions to the live clusters about what a revision would change. Who is asked is
//! written down with the question, so that everybody knows whose answer is missing.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, AgentDiff, AgentId, Diff, DiffAnswer, DiffId, PendingDiff, Stack, StackId,
    Subject,
};
use futures::FutureExt;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::living;
use crate::database::Database;
use crate::fact::Fact;
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// How many questions about one stack may be open at once.
const OPEN: i64 = 10;
/// How many questions an agent is shown at once; the next when it has answered these.
const SHOWN: i64 = 4;

/// A question to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDiff {
    /// About which stack.
    pub stack_id: StackId,
    /// The manifests that might become its next revision.
    pub yaml_content: String,
    /// How long answers are wanted.
    pub lasting: SignedDuration,
}

/// Questions to the live clusters.
#[async_trait]
pub trait Diffs {
    /// Asks every ACTIVE agent that is served the stack.
    async fn diff_create(&self, by: &Actor, new: NewDiff) -> Result<Diff>;

    /// A question that has not expired at `now`, with the answers so far.
    async fn diff_get(&self, stack: StackId, id: DiffId, now: Timestamp) -> Result<Option<Diff>>;

    /// The oldest questions that the agent has not answered and that have not expired at `now`.
    async fn diffs_of_agent(&self, agent: AgentId, now: Timestamp) -> Result<Vec<PendingDiff>>;

    /// Keeps an agent's answer. A second one changes nothing.
    async fn diff_answer(&self, agent: AgentId, id: DiffId, answer: DiffAnswer) -> Result<()>;
}

#[async_trait]
impl Diffs for Database {
    async fn diff_create(&self, by: &Actor, new: NewDiff) -> Result<Diff> {
        let by = by.clone();
        self.write(move |tx| async move { create(tx, &by, new).await }.boxed())
            .await
    }

    async fn diff_get(&self, stack: StackId, id: DiffId, now: Timestamp) -> Result<Option<Diff>> {
        let query = sql("SELECT * FROM diffs WHERE id = $1 AND stack_id = $2 AND expires_at > $3")
            .bind(&id)
            .bind(&stack)
            .bind(&now);
        let Some(mut diff) = self.one(query, diff).await? else {
            return Ok(None);
        };
        let query = sql("SELECT * FROM diff_answers WHERE diff_id = $1 \
             ORDER BY answered_at, agent_id")
        .bind(&id);
        for row in self.reader().await?.all(query).await? {
            match answer(&row)? {
                Some(answer) => diff.answers.push(answer),
                None => diff.missing.push(row.get("agent_id")?),
            }
        }
        Ok(Some(diff))
    }

    async fn diffs_of_agent(&self, agent: AgentId, now: Timestamp) -> Result<Vec<PendingDiff>> {
        let query = sql(
            "SELECT d.* FROM diff_answers a JOIN diffs d ON d.id = a.diff_id \
             WHERE a.agent_id = $1 AND a.answered_at IS NULL AND d.expires_at > $2 \
             ORDER BY d.requested_at, d.id LIMIT $3",
        )
        .bind(&agent)
        .bind(&now)
        .bind(&SHOWN);
        self.all(query, pending).await
    }

    async fn diff_answer(&self, agent: AgentId, id: DiffId, answer: DiffAnswer) -> Result<()> {
        self.write(move |tx| async move { take(tx, agent, id, &answer).await }.boxed())
            .await
    }
}

async fn create(tx: &mut Transaction, by: &Actor, new: NewDiff) -> Result<Diff> {
    let stack = living::require::<Stack>(tx, new.stack_id).await?.id;
    check_room(tx, stack).await?;
    let now = tx.now();
    let id: DiffId = tx.id();
    let expires_at = now.saturating_add(new.lasting).unwrap_or(now);
    let query = sql(
        "INSERT INTO diffs (id, stack_id, requested_at, expires_at, yaml_content) \
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(&id)
    .bind(&stack)
    .bind(&now)
    .bind(&expires_at)
    .bind(&new.yaml_content.into_bytes());
    tx.run(query).await?;
    let missing = ask(tx, stack, id).await?;
    let details = json!({ "diff_id": id, "stack_id": stack, "agents": missing.len() });
    let fact = Fact::new(Action::DiffRequested, Subject::Stack { id: stack }, details);
    tx.record(by, fact).await?;
    Ok(Diff {
        id,
        stack_id: stack,
        requested_at: now,
        expires_at,
        answers: Vec::new(),
        missing,
    })
}

async fn check_room(tx: &mut Transaction, stack: StackId) -> Result<()> {
    let query = sql("SELECT COUNT(*) AS open FROM diffs WHERE stack_id = $1 AND expires_at > $2")
        .bind(&stack)
        .bind(&tx.now());
    let row = tx.one(query).await?;
    let open = row.map_or(Ok(0), |row| row.get("open"))?;
    if open < OPEN {
        Ok(())
    } else {
        Err(Error::TooManyDiffs { stack, open })
    }
}

/// Writes down who is asked, and lets them know.
async fn ask(tx: &mut Transaction, stack: StackId, id: DiffId) -> Result<Vec<AgentId>> {
    let query = sql("INSERT INTO diff_answers (diff_id, agent_id) \
         SELECT $2, a.agent_id FROM assignments a \
         JOIN agents g ON g.id = a.agent_id AND g.status = 'ACTIVE' \
         WHERE a.stack_id = $1 AND a.order_kind = 'serve'")
    .bind(&stack)
    .bind(&id);
    tx.run(query).await?;
    let position = tx.position();
    let query = sql("UPDATE assignments SET asked = $3 WHERE stack_id = $1 \
         AND agent_id IN (SELECT agent_id FROM diff_answers WHERE diff_id = $2)")
    .bind(&stack)
    .bind(&id)
    .bind(&position);
    tx.run(query).await?;
    let query = sql("SELECT agent_id FROM diff_answers WHERE diff_id = $1 ORDER BY agent_id");
    let rows = tx.all(query.bind(&id)).await?;
    rows.iter().map(|row| row.get("agent_id")).collect()
}

async fn take(tx: &mut Transaction, agent: AgentId, id: DiffId, answer: &DiffAnswer) -> Result<()> {
    let now = tx.now();
    let query = sql(
        "UPDATE diff_answers SET answered_at = COALESCE(answered_at, $3), \
             answer = COALESCE(answer, $4) \
         WHERE diff_id = $1 AND agent_id = $2 \
         AND EXISTS (SELECT 1 FROM diffs d WHERE d.id = $1 AND d.expires_at > $3)",
    )
    .bind(&id)
    .bind(&agent)
    .bind(&now)
    .json(answer);
    if tx.run(query).await? == 0 {
        return Err(Error::not_found("diff", &id));
    }
    Ok(())
}

fn diff(row: &Row) -> Result<Diff> {
    Ok(Diff {
        id: row.get("id")?,
        stack_id: row.get("stack_id")?,
        requested_at: row.get("requested_at")?,
        expires_at: row.get("expires_at")?,
        answers: Vec::new(),
        missing: Vec::new(),
    })
}

fn answer(row: &Row) -> Result<Option<AgentDiff>> {
    let Some(answered_at) = row.get("answered_at")? else {
        return Ok(None);
    };
    Ok(Some(AgentDiff {
        agent_id: row.get("agent_id")?,
        answered_at,
        answer: row.json("answer")?,
    }))
}

fn pending(row: &Row) -> Result<PendingDiff> {
    Ok(PendingDiff {
        id: row.get("id")?,
        stack_id: row.get("stack_id")?,
        yaml_content: super::deployments::text(row, "yaml_content")?,
        requested_at: row.get("requested_at")?,
        expires_at: row.get("expires_at")?,
    })
}
