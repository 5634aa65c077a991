//! Events: what agents report.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{AgentEvent, ListQuery, NewEvent};
use evenkeel_model::{AgentId, EventId};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Json, Path, Query};
use crate::respond::{Created, Paged};

/// The agent's events, newest first.
#[utoipa::path(get, path = "/agents/{id}/events", tag = "events",
    params(("id" = AgentId, Path), ListQuery), responses((status = 200, body = Vec<AgentEvent>)))]
pub(crate) async fn agent_events(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    Query(query): Query<ListQuery>,
) -> Result<Paged<AgentEvent>> {
    app.event_list(&caller, Some(id), &query).await.map(Paged)
}

/// Reports an attempt. Success with an order to remove is the confirmation that ends it.
#[utoipa::path(post, path = "/agents/{id}/events", tag = "events",
    params(("id" = AgentId, Path)), request_body = NewEvent,
    responses((status = 201, body = AgentEvent)))]
pub(crate) async fn event_record(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    Json(event): Json<NewEvent>,
) -> Result<Created<AgentEvent>> {
    app.event_record(&caller, id, event).await.map(Created)
}

/// The events of all agents, newest first.
#[utoipa::path(get, path = "/agent-events", tag = "events", params(ListQuery),
    responses((status = 200, body = Vec<AgentEvent>)))]
pub(crate) async fn event_list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Paged<AgentEvent>> {
    app.event_list(&caller, None, &query).await.map(Paged)
}

/// One event.
#[utoipa::path(get, path = "/agent-events/{id}", tag = "events", params(("id" = EventId, Path)),
    responses((status = 200, body = AgentEvent)))]
pub(crate) async fn event_get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<EventId>,
) -> Result<Answer<AgentEvent>> {
    app.event_get(&caller, id).await.map(Answer)
}
