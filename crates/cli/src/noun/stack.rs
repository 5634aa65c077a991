//! Stacks, with how far they have come.

use std::collections::HashMap;

use evenkeel_api::{AssignmentStatus, Stack};
use evenkeel_model::{GeneratorId, HealthStatus, Name, Order, Phase};

use serde_json::json;

use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, data, wide};
use crate::output::tone::Tone;
use crate::remote::{Session, at_once};

/// A stack and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct StackRow {
    pub(crate) stack: Stack,
    pub(crate) generator: Option<Name>,
    pub(crate) labels: Vec<String>,
    pub(crate) annotations: Vec<String>,
    pub(crate) status: Vec<AssignmentStatus>,
}

impl StackRow {
    /// All that there is to know of one stack.
    pub(crate) async fn of(session: &Session, stack: Stack) -> anyhow::Result<Self> {
        let generators = session.generator_names().await?;
        Self::among(session, stack, &generators).await
    }

    /// The same for several stacks.
    pub(crate) async fn all(session: &Session, stacks: Vec<Stack>) -> anyhow::Result<Vec<Self>> {
        let generators = session.generator_names().await?;
        at_once(stacks, |stack| Self::among(session, stack, &generators)).await
    }

    async fn among(
        session: &Session,
        stack: Stack,
        generators: &HashMap<GeneratorId, Name>,
    ) -> anyhow::Result<Self> {
        let (client, id) = (&session.client, stack.id);
        let (status, labels, annotations) = tokio::try_join!(
            client.stack_status(id),
            client.stack_labels(id),
            client.stack_annotations(id)
        )?;
        let annotations = annotations.iter();
        Ok(Self {
            generator: generators.get(&stack.generator_id).cloned(),
            labels: labels.iter().map(|one| one.label.to_string()).collect(),
            annotations: annotations
                .map(|one| format!("{}={}", one.key, one.value))
                .collect(),
            status,
            stack,
        })
    }

    /// How many of the agents have what they should.
    fn agents(&self) -> Cell {
        let serving = || self.status.iter().filter(|one| one.order == Order::Serve);
        let done = |one: &&AssignmentStatus| matches!(one.phase, Phase::Applied | Phase::Empty);
        Cell::Ratio {
            done: serving().filter(done).count(),
            of: serving().count(),
        }
    }

    /// What there is to know at a glance.
    fn state(&self) -> Cell {
        let serving = || self.status.iter().filter(|one| one.order == Order::Serve);
        let any = |phase| serving().any(|one| one.phase == phase);
        let (word, tone) = if self.stack.control.suspended {
            ("suspended", Tone::Notice)
        } else if serving().next().is_none() {
            ("no agents", Tone::Notice)
        } else if any(Phase::Failed) {
            ("failed", Tone::Bad)
        } else if serving().any(|one| one.waiting.is_some()) {
            ("waiting", Tone::Notice)
        } else if any(Phase::Pending) {
            ("converging", Tone::Notice)
        } else {
            ("converged", Tone::Good)
        };
        Cell::Word(word.to_owned(), tone)
    }

    /// The worst that any agent says.
    pub(crate) fn health(&self) -> Option<HealthStatus> {
        self.status
            .iter()
            .filter_map(|one| one.health)
            .max_by_key(|health| badness(*health))
    }
}

/// How bad it is, to find the worst.
const fn badness(health: HealthStatus) -> u8 {
    match health {
        HealthStatus::Healthy => 0,
        HealthStatus::Unknown => 1,
        HealthStatus::Degraded => 2,
        HealthStatus::Failing => 3,
    }
}

impl Noun for StackRow {
    const KIND: &'static str = "stack";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("name", |row| (&row.stack.name).into()),
            column("generator", |row| row.generator.as_ref().into()),
            column("revision", |row| row.stack.newest_sequence_id.into()),
            column("agents", Self::agents),
            column("state", Self::state),
            column("health", |row| row.health().into()),
            column("created", |row| row.stack.created_at.into()),
            wide("drift", |row| {
                row.stack.control.drift.map(|mode| mode.to_string()).into()
            }),
            wide("labels", |row| Cell::List(row.labels.clone())),
            wide("annotations", |row| Cell::List(row.annotations.clone())),
            wide("id", |row| Cell::text(row.stack.id)),
            data("control", |row| Cell::Data(json!(row.stack.control))),
            wide("description", |row| row.stack.description.clone().into()),
        ]
    }

    fn name(&self) -> String {
        self.stack.name.to_string()
    }
}
