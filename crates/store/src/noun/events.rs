//! Events: what agents report, and what that says about their assignments.

use async_trait::async_trait;
use evenkeel_model::{
    Agent, AgentEvent, AgentId, Assignment, EventId, EventStatus, FleetEvent, NewEvent, ObjectKind,
    ObjectRef, Observed, Order, Page, Paging, StackId, Subject,
};
use futures::FutureExt;
use jiff::Timestamp;
use serde_json::json;

use super::{assignments, deployments, living};
use crate::database::Database;
use crate::page::{self, From};
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// Which events are wanted; nothing set means all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Those of this agent.
    pub agent: Option<AgentId>,
    /// Those about this stack.
    pub stack: Option<StackId>,
}

/// What agents report.
#[async_trait]
pub trait Events {
    /// Keeps the event and what it says about the assignment. A success on the object that ends
    /// an assignment (deletion marker, release tombstone) is the agent's confirmation. A failure
    /// never takes anything from what the agent is served.
    async fn event_record(&self, new: NewEvent) -> Result<AgentEvent>;

    /// One event.
    async fn event_get(&self, id: EventId) -> Result<Option<AgentEvent>>;

    /// The events, newest first.
    async fn event_list(&self, filter: EventFilter, paging: Paging) -> Result<Page<AgentEvent>>;
}

#[async_trait]
impl Events for Database {
    async fn event_record(&self, new: NewEvent) -> Result<AgentEvent> {
        self.write(move |tx| async move { record(tx, new).await }.boxed())
            .await
    }

    async fn event_get(&self, id: EventId) -> Result<Option<AgentEvent>> {
        self.one(
            sql("SELECT * FROM agent_events WHERE id = $1").bind(&id),
            event,
        )
        .await
    }

    async fn event_list(&self, filter: EventFilter, paging: Paging) -> Result<Page<AgentEvent>> {
        let query = page::bind(sql(listing(filter)), paging, From::Newest)
            .bind(&filter.agent)
            .bind(&filter.stack);
        self.page(query, paging, "position", event).await
    }
}

/// A statement for each filter, so that each finds its rows by an index among millions.
const fn listing(filter: EventFilter) -> &'static str {
    match filter {
        EventFilter {
            agent: None,
            stack: None,
        } => {
            "SELECT * FROM agent_events WHERE position < $1 AND $3 IS NULL AND $4 IS NULL \
             ORDER BY position DESC LIMIT $2"
        }
        EventFilter {
            agent: Some(_),
            stack: None,
        } => {
            "SELECT * FROM agent_events WHERE agent_id = $3 AND position < $1 AND $4 IS NULL \
             ORDER BY position DESC LIMIT $2"
        }
        EventFilter {
            agent: None,
            stack: Some(_),
        } => {
            "SELECT * FROM agent_events WHERE stack_id = $4 AND position < $1 AND $3 IS NULL \
             ORDER BY position DESC LIMIT $2"
        }
        EventFilter {
            agent: Some(_),
            stack: Some(_),
        } => {
            "SELECT * FROM agent_events WHERE agent_id = $3 AND stack_id = $4 AND position < $1 \
             ORDER BY position DESC LIMIT $2"
        }
    }
}

async fn record(tx: &mut Transaction, new: NewEvent) -> Result<AgentEvent> {
    living::require::<Agent>(tx, new.agent_id).await?;
    if let Some(event) = recorded_before(tx, &new).await? {
        return Ok(event);
    }
    let constraint = "agent_events_deployment_object_id_fkey";
    let object = deployments::refer(tx, new.deployment_object_id, constraint).await?;
    let assignment = assignments::find(tx, new.agent_id, object.stack_id).await?;
    if assignment.is_none() && !reported_before(tx, &new).await? {
        return Err(Error::NotAssigned {
            agent: new.agent_id,
            stack: object.stack_id,
        });
    }
    let event = insert(tx, new, &object).await?;
    if let Some(assignment) = assignment {
        take_note(tx, &assignment, &object, &event).await?;
    }
    publish(tx, &event, &object).await?;
    Ok(event)
}

/// The event that the agent named so earlier; told twice, it happened once.
async fn recorded_before(tx: &mut Transaction, new: &NewEvent) -> Result<Option<AgentEvent>> {
    let Some(id) = new.id else {
        return Ok(None);
    };
    let query = sql("SELECT * FROM agent_events WHERE id = $1").bind(&id);
    let earlier = tx.one(query).await?.as_ref().map(event).transpose()?;
    let same = |event: &AgentEvent| {
        event.agent_id == new.agent_id && event.deployment_object_id == new.deployment_object_id
    };
    match earlier {
        Some(event) if !same(&event) => Err(Error::Conflict {
            constraint: "agent_events_id_key".to_owned(),
        }),
        earlier => Ok(earlier),
    }
}

/// An agent that got no answer reports again, perhaps after its word ended the assignment.
async fn reported_before(tx: &mut Transaction, new: &NewEvent) -> Result<bool> {
    let query = sql("SELECT 1 FROM agent_events \
         WHERE deployment_object_id = $1 AND agent_id = $2 LIMIT 1")
    .bind(&new.deployment_object_id)
    .bind(&new.agent_id);
    Ok(tx.one(query).await?.is_some())
}

async fn insert(tx: &mut Transaction, new: NewEvent, object: &ObjectRef) -> Result<AgentEvent> {
    let event = AgentEvent {
        id: new.id.unwrap_or_else(|| tx.id()),
        created_at: tx.now(),
        agent_id: new.agent_id,
        deployment_object_id: new.deployment_object_id,
        event_type: new.event_type,
        status: new.status,
        message: new.message,
        attempted_at: new.attempted_at,
        changes: new.changes,
        change_counts: new.change_counts,
    };
    let position = tx.position();
    let query = sql(
        "INSERT INTO agent_events (id, position, created_at, agent_id, \
             deployment_object_id, stack_id, event_type, status, message, attempted_at, \
             changes, change_counts) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(&event.id)
    .bind(&position)
    .bind(&event.created_at)
    .bind(&event.agent_id)
    .bind(&event.deployment_object_id)
    .bind(&object.stack_id)
    .bind(&event.event_type)
    .bind(&event.status)
    .bind(&event.message)
    .bind(&event.attempted_at)
    .json(&event.changes)
    .json(&event.change_counts);
    tx.run(query).await?;
    Ok(event)
}

async fn take_note(
    tx: &mut Transaction,
    assignment: &Assignment,
    object: &ObjectRef,
    event: &AgentEvent,
) -> Result<()> {
    if event.status == EventStatus::Success && ends(assignment, object) {
        return assignments::end(tx, assignment).await;
    }
    let seen = match event.status {
        EventStatus::Success => succeeded(assignment, object, event.created_at),
        EventStatus::Failure => failed(assignment, object, event),
    };
    assignments::observe(tx, assignment, &seen).await
}

/// Whether success with `object` means that the agent holds nothing of the stack any more.
fn ends(assignment: &Assignment, object: &ObjectRef) -> bool {
    assignment.order != Order::Serve && assignment.desired() == Some(object.sequence_id)
}

fn succeeded(assignment: &Assignment, object: &ObjectRef, at: Timestamp) -> Observed {
    let old = &assignment.observed;
    // A late word about an older revision does not undo a newer one. A tombstone that has been
    // overtaken by a new target means that the agent now holds nothing.
    let applied = match object.kind {
        ObjectKind::Release => None,
        ObjectKind::Revision | ObjectKind::Deletion => old.applied.max(Some(object.sequence_id)),
    };
    Observed {
        applied,
        attempted: old.attempted.max(Some(object.sequence_id)),
        attempts: 0,
        last_error: None,
        reported_at: Some(at),
        health: old.health.filter(|_| old.applied == applied),
        drift: None,
        waiting: None,
    }
}

fn failed(assignment: &Assignment, object: &ObjectRef, event: &AgentEvent) -> Observed {
    let old = &assignment.observed;
    let again = old.attempted == Some(object.sequence_id);
    let message = event
        .message
        .clone()
        .unwrap_or_else(|| "no reason was given".to_owned());
    Observed {
        attempted: Some(object.sequence_id),
        attempts: if again { old.attempts + 1 } else { 1 },
        last_error: Some(message),
        reported_at: Some(event.created_at),
        ..old.clone()
    }
}

/// Whatever way the event came, webhooks and caches hear of it from here.
async fn publish(tx: &mut Transaction, event: &AgentEvent, object: &ObjectRef) -> Result<()> {
    let (agent_id, stack_id) = (event.agent_id, object.stack_id);
    tx.changed(Subject::Assignment { agent_id, stack_id })
        .await?;
    let told = match event.status {
        EventStatus::Success => FleetEvent::DeploymentApplied,
        EventStatus::Failure => FleetEvent::DeploymentFailed,
    };
    let data = json!({
        "agent_id": agent_id,
        "stack_id": stack_id,
        "deployment_object_id": object.id,
        "sequence_id": object.sequence_id,
        "event_type": event.event_type,
        "status": event.status,
        "message": event.message,
    });
    tx.announce(told, Some(agent_id), Some(stack_id), data)
        .await
}

fn event(row: &Row) -> Result<AgentEvent> {
    Ok(AgentEvent {
        id: row.get("id")?,
        created_at: row.get("created_at")?,
        agent_id: row.get("agent_id")?,
        deployment_object_id: row.get("deployment_object_id")?,
        event_type: row.get("event_type")?,
        status: row.get("status")?,
        message: row.get("message")?,
        attempted_at: row.get("attempted_at")?,
        changes: row.json("changes")?,
        change_counts: row.json("change_counts")?,
    })
}
