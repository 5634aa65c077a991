//! Events: what agents report.

use evenkeel_api::{AgentEvent, ListQuery, NewEvent};
use evenkeel_model::{AgentId, ChangeCounts, EventId, NewEvent as New, ObjectChange, Page};
use evenkeel_store::EventFilter;

use super::bound;
use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

/// The most characters of an event's type.
const TYPE_LIMIT: usize = 50;

impl Core {
    pub(crate) async fn event_record(
        &self,
        caller: &Caller,
        agent: AgentId,
        event: NewEvent,
    ) -> Result<AgentEvent> {
        caller.agent(agent)?;
        if event.agent_id.is_some_and(|named| named != agent) {
            return Err(ApiError::bad(
                "agent_id_mismatch",
                "the body names another agent",
            ));
        }
        if event.event_type.is_empty() || event.event_type.len() > TYPE_LIMIT {
            let text = format!("an event type has 1 to {TYPE_LIMIT} characters");
            return Err(ApiError::unprocessable("check_violation", text));
        }
        let new = New {
            id: event.id,
            agent_id: agent,
            deployment_object_id: event.deployment_object_id,
            event_type: event.event_type,
            status: event.status,
            message: event.message.map(bound::message),
            attempted_at: event.attempted_at,
            change_counts: counted(event.change_counts, &event.changes),
            changes: bound::changes(event.changes),
        };
        Ok(self.store.event_record(new).await?.into())
    }

    pub(crate) async fn event_list(
        &self,
        caller: &Caller,
        agent: Option<AgentId>,
        query: &ListQuery,
    ) -> Result<Page<AgentEvent>> {
        match agent {
            Some(id) => {
                caller.agent(id)?;
                self.agent_required(id).await?;
            }
            None => caller.operator()?,
        }
        let filter = EventFilter { agent, stack: None };
        Ok(self
            .store
            .event_list(filter, query.paging())
            .await?
            .map(Into::into))
    }

    pub(crate) async fn event_get(&self, caller: &Caller, id: EventId) -> Result<AgentEvent> {
        caller.operator()?;
        let found = self.store.event_get(id).await?;
        found
            .map(Into::into)
            .ok_or_else(|| ApiError::not_found("event", id))
    }
}

/// What was done to how many: as the agent counted, or from what it listed.
fn counted(mut counts: ChangeCounts, changes: &[ObjectChange]) -> ChangeCounts {
    if counts.is_empty() {
        for change in changes {
            *counts.entry(change.action).or_default() += 1;
        }
    }
    counts
}
