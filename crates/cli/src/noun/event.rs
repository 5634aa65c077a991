//! Events: what agents reported of their attempts.

use std::collections::{BTreeSet, HashMap};

use evenkeel_api::{Agent, AgentEvent, DeploymentObject};
use evenkeel_model::{AgentId, DeploymentId, SequenceId, StackId};

use serde_json::json;

use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, data, wide};
use crate::remote::{Session, at_once};

/// One event with the names of what it is about.
#[derive(Debug, Clone)]
pub(crate) struct EventRow {
    pub(crate) event: AgentEvent,
    agent: String,
    stack: Option<(StackId, String)>,
    revision: Option<SequenceId>,
}

impl EventRow {
    /// The stack that it is about, if that is still there.
    pub(crate) fn stack_id(&self) -> Option<StackId> {
        self.stack.as_ref().map(|(id, _)| *id)
    }

    /// What the agent said, or else what it did to how many objects.
    fn message(&self) -> Cell {
        if let Some(message) = &self.event.message {
            return Cell::Prose(message.clone());
        }
        let counts = self.event.change_counts.iter();
        let counts: Vec<_> = counts
            .map(|(action, count)| format!("{count} {action}"))
            .collect();
        match counts.as_slice() {
            [] => Cell::Nothing,
            counts => Cell::Prose(counts.join(", ")),
        }
    }
}

/// What events refer to by id, asked for once each.
#[derive(Debug, Default)]
pub(crate) struct Subjects {
    agents: HashMap<AgentId, Agent>,
    stacks: HashMap<StackId, String>,
    objects: HashMap<DeploymentId, (StackId, SequenceId)>,
}

impl Subjects {
    /// The events with the names of what they are about.
    pub(crate) async fn name(
        &mut self,
        session: &Session,
        events: Vec<AgentEvent>,
    ) -> anyhow::Result<Vec<EventRow>> {
        self.learn(session, &events).await?;
        Ok(events.into_iter().map(|event| self.row(event)).collect())
    }

    async fn learn(&mut self, session: &Session, events: &[AgentEvent]) -> anyhow::Result<()> {
        let objects = events.iter().map(|event| event.deployment_object_id);
        let new: BTreeSet<_> = objects
            .filter(|id| !self.objects.contains_key(id))
            .collect();
        let strangers = events
            .iter()
            .any(|event| !self.agents.contains_key(&event.agent_id));
        if strangers {
            self.agents = session.agents().await?;
        }
        if new.is_empty() {
            return Ok(());
        }
        let stacks = session.stacks(&[]).await?.into_iter();
        self.stacks = stacks
            .map(|stack| (stack.id, stack.name.to_string()))
            .collect();
        let found = at_once(new, async |id| {
            Ok(session.client.deployment_get(id).await?)
        })
        .await?;
        let place = |object: DeploymentObject| (object.id, (object.stack_id, object.sequence_id));
        self.objects.extend(found.into_iter().map(place));
        Ok(())
    }

    fn row(&self, event: AgentEvent) -> EventRow {
        let agent = self.agents.get(&event.agent_id);
        let object = self.objects.get(&event.deployment_object_id);
        EventRow {
            agent: agent.map_or_else(|| event.agent_id.to_string(), |one| one.name.to_string()),
            stack: object.and_then(|(id, _)| Some((*id, self.stacks.get(id)?.clone()))),
            revision: object.map(|(_, sequence)| *sequence),
            event,
        }
    }
}

impl Noun for EventRow {
    const KIND: &'static str = "event";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("when", |row| row.event.created_at.into()),
            column("agent", |row| row.agent.as_str().into()),
            column("stack", |row| {
                row.stack.as_ref().map(|(_, name)| name.as_str()).into()
            }),
            column("revision", |row| row.revision.into()),
            column("type", |row| row.event.event_type.as_str().into()),
            column("status", |row| row.event.status.into()),
            column("message", Self::message),
            data("changes", |row| Cell::Data(json!(row.event.changes))),
            wide("id", |row| Cell::text(row.event.id)),
            data("deployment_object_id", |row| {
                Cell::text(row.event.deployment_object_id)
            }),
        ]
    }

    fn name(&self) -> String {
        self.event.id.to_string()
    }
}
