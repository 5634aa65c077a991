//! Events: what agents report.

use evenkeel_api::{AgentEvent, ListQuery, NewEvent};
use evenkeel_model::{AgentId, EventId, NewEvent as New, Page};
use evenkeel_store::EventFilter;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

/// The most characters of an event's type and of its message.
const TYPE_LIMIT: usize = 50;
const MESSAGE_LIMIT: usize = 64 << 10;

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
            agent_id: agent,
            deployment_object_id: event.deployment_object_id,
            event_type: event.event_type,
            status: event.status,
            message: event.message.map(shortened),
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

/// An event must not be lost because it has too much to say.
fn shortened(mut message: String) -> String {
    if message.len() > MESSAGE_LIMIT {
        let end = (0..=MESSAGE_LIMIT)
            .rev()
            .find(|at| message.is_char_boundary(*at));
        message.truncate(end.unwrap_or(0));
    }
    message
}
