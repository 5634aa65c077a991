//! How far one agent has come with one stack.

use evenkeel_api::AssignmentStatus;
use evenkeel_model::{Order, Phase};
use serde_json::json;

use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, data, wide};
use crate::output::tone::Tone;
use crate::remote::{Session, at_once};

/// One agent's way with one stack.
#[derive(Debug, Clone)]
pub(crate) struct ProgressRow {
    pub(crate) stack: String,
    pub(crate) agent: String,
    pub(crate) cluster: String,
    pub(crate) status: AssignmentStatus,
}

impl ProgressRow {
    /// Every agent's way with each of the stacks that were named, or with all.
    pub(crate) async fn all(session: &Session, wanted: &[String]) -> anyhow::Result<Vec<Self>> {
        let (stacks, agents) = tokio::try_join!(session.stacks(wanted), session.agents())?;
        let of_each = at_once(stacks, async |stack| {
            let status = session.client.stack_status(stack.id).await?;
            Ok(status
                .into_iter()
                .map(move |status| (stack.name.to_string(), status)))
        });
        let row = |(stack, status): (String, AssignmentStatus)| {
            let agent = agents.get(&status.agent_id);
            Self {
                stack,
                agent: agent
                    .map_or_else(|| status.agent_id.to_string(), |one| one.name.to_string()),
                cluster: agent
                    .map(|one| one.cluster_name.to_string())
                    .unwrap_or_default(),
                status,
            }
        };
        let mut rows: Vec<_> = of_each.await?.into_iter().flatten().map(row).collect();
        rows.sort_by(|one, other| (&one.stack, &one.agent).cmp(&(&other.stack, &other.agent)));
        Ok(rows)
    }

    /// What there is to say about it.
    pub(crate) fn message(&self) -> Cell {
        let status = &self.status;
        let said = [&status.last_error, &status.waiting, &status.drift];
        let said = said.into_iter().flatten().next();
        said.map_or(Cell::Nothing, |text| Cell::Prose(text.clone()))
    }
}

/// The phase in words that also fit a removal.
pub(crate) fn phase(status: &AssignmentStatus) -> Cell {
    match (status.order, status.phase) {
        (Order::Serve, phase) => phase.into(),
        (_, Phase::Applied) => Cell::Word("removed".to_owned(), Tone::Good),
        (_, Phase::Failed) => Cell::Word("removal failed".to_owned(), Tone::Bad),
        (_, Phase::Pending | Phase::Empty) => Cell::Word("removing".to_owned(), Tone::Notice),
    }
}

impl Noun for ProgressRow {
    const KIND: &'static str = "assignment";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("stack", |row| row.stack.as_str().into()),
            column("agent", |row| row.agent.as_str().into()),
            column("wanted", |row| row.status.desired.into()),
            column("applied", |row| row.status.applied.into()),
            column("phase", |row| phase(&row.status)),
            column("health", |row| row.status.health.into()),
            column("since", |row| row.status.since.into()),
            column("message", Self::message),
            wide("cluster", |row| row.cluster.as_str().into()),
            wide("order", |row| row.status.order.into()),
            wide("attempts", |row| row.status.attempts.into()),
            data("waiting", |row| row.status.waiting.as_deref().into()),
            data("error", |row| row.status.last_error.as_deref().into()),
            data("objects", |row| Cell::Data(json!(row.status.objects))),
            data("drift", |row| Cell::Data(json!(row.status.drift_records))),
            wide("reported", |row| row.status.reported_at.into()),
        ]
    }

    fn name(&self) -> String {
        format!("{}/{}", self.stack, self.agent)
    }
}
