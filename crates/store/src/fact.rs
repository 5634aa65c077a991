//! Facts: what a write did. Audit log, change feed and webhooks are three views of one fact,
//! written in the transaction of the change itself, from one place.

use evenkeel_model::{Action, Actor, AgentId, FleetEvent, StackId, Subject};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Result;
use crate::noun::{audit, webhooks};
use crate::transaction::Transaction;

/// What a write did.
pub(crate) struct Fact {
    pub(crate) action: Action,
    pub(crate) subject: Subject,
    pub(crate) details: Value,
}

impl Fact {
    pub(crate) const fn new(action: Action, subject: Subject, details: Value) -> Self {
        Self {
            action,
            subject,
            details,
        }
    }
}

impl Transaction {
    /// Leaves every trace of a fact.
    pub(crate) async fn record(&mut self, by: &Actor, fact: Fact) -> Result<()> {
        let Fact {
            action,
            subject,
            details,
        } = fact;
        let (agent, stack) = concerns(subject);
        audit::insert(self, by, action, Some(resource(subject)), Some(&details)).await?;
        self.changed(subject).await?;
        match action.fleet_event() {
            Some(event) => self.announce(event, agent, stack, details).await,
            None => Ok(()),
        }
    }

    /// Queues a delivery for every webhook that wants to know.
    pub(crate) async fn announce(
        &mut self,
        event: FleetEvent,
        agent: Option<AgentId>,
        stack: Option<StackId>,
        data: Value,
    ) -> Result<()> {
        let wanting = webhooks::wanting(self, event, agent, stack).await?;
        if wanting.is_empty() {
            return Ok(());
        }
        let id: Uuid = self.id();
        let timestamp = self.now();
        let payload =
            json!({ "id": id, "event_type": event, "timestamp": timestamp, "data": data });
        for webhook in wanting {
            webhooks::enqueue(self, webhook, event, id, &payload).await?;
        }
        Ok(())
    }
}

const fn resource(subject: Subject) -> Uuid {
    match subject {
        Subject::Generator { id } => id.0,
        Subject::Agent { id } => id.0,
        Subject::Stack { id } => id.0,
        Subject::Assignment { agent_id, .. } => agent_id.0,
        Subject::Key { id } => id.0,
        Subject::Webhook { id } => id.0,
    }
}

const fn concerns(subject: Subject) -> (Option<AgentId>, Option<StackId>) {
    match subject {
        Subject::Agent { id } => (Some(id), None),
        Subject::Stack { id } => (None, Some(id)),
        Subject::Assignment { agent_id, stack_id } => (Some(agent_id), Some(stack_id)),
        Subject::Generator { .. } | Subject::Key { .. } | Subject::Webhook { .. } => (None, None),
    }
}
