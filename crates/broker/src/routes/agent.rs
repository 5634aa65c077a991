//! Agents.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{
    Agent, AgentUpdate, CreatedAgent, Heartbeat, ListQuery, NewAgent, Registration, RotatedAgent,
    Stack,
};
use evenkeel_model::{AgentId, Name};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::extract::{Json, MaybeJson, Path, Query};
use crate::respond::{Created, Done, Paged};

/// The agents; for a generator, those registered with it.
#[utoipa::path(get, path = "/agents", tag = "agents", params(ListQuery),
    responses((status = 200, body = Vec<Agent>)))]
pub(crate) async fn agent_list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Paged<Agent>> {
    app.agent_list(&caller, query).await.map(Paged)
}

/// Creates an agent. Its key is shown this once.
#[utoipa::path(post, path = "/agents", tag = "agents", request_body = NewAgent,
    responses((status = 201, body = CreatedAgent)))]
pub(crate) async fn agent_create(
    State(app): State<App>,
    caller: Caller,
    Json(new): Json<NewAgent>,
) -> Result<Created<CreatedAgent>> {
    app.agent_create(&caller, new).await.map(Created)
}

/// The names by which an agent looks itself up.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FindQuery {
    /// The agent's name.
    #[param(value_type = Option<String>)]
    name: Option<Name>,
    /// Its cluster's name.
    #[param(value_type = Option<String>)]
    cluster_name: Option<Name>,
}

/// The agent of this name in this cluster. The slash at the end tells it from the list.
#[utoipa::path(get, path = "/agents/", tag = "agents", params(FindQuery),
    responses((status = 200, body = Agent)))]
pub(crate) async fn agent_find(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<FindQuery>,
) -> Result<Answer<Agent>> {
    let (Some(name), Some(cluster)) = (query.name, query.cluster_name) else {
        let text = "both `name` and `cluster_name` are needed";
        return Err(ApiError::bad("name_and_cluster_required", text));
    };
    app.agent_find(&caller, &name, &cluster).await.map(Answer)
}

/// One agent.
#[utoipa::path(get, path = "/agents/{id}", tag = "agents", params(("id" = AgentId, Path)),
    responses((status = 200, body = Agent)))]
pub(crate) async fn agent_get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Agent>> {
    app.agent_get(&caller, id).await.map(Answer)
}

/// Changes an agent's name or cluster name, starts or pauses it.
#[utoipa::path(put, path = "/agents/{id}", tag = "agents", params(("id" = AgentId, Path)),
    request_body = AgentUpdate, responses((status = 200, body = Agent)))]
pub(crate) async fn agent_update(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    Json(update): Json<AgentUpdate>,
) -> Result<Answer<Agent>> {
    app.agent_update(&caller, id, update).await.map(Answer)
}

/// Deletes an agent and forgets what it holds.
#[utoipa::path(delete, path = "/agents/{id}", tag = "agents", params(("id" = AgentId, Path)),
    responses((status = 204)))]
pub(crate) async fn agent_delete(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Done> {
    app.agent_delete(&caller, id).await.map(|()| Done)
}

/// Replaces the agent's key; the old one opens nothing any more.
#[utoipa::path(post, path = "/agents/{id}/rotate-pak", tag = "agents",
    params(("id" = AgentId, Path)), responses((status = 200, body = RotatedAgent)))]
pub(crate) async fn agent_rotate(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<RotatedAgent>> {
    app.agent_rotate(&caller, id).await.map(Answer)
}

/// A sign of life.
#[utoipa::path(post, path = "/agents/{id}/heartbeat", tag = "agents",
    params(("id" = AgentId, Path)), request_body = Option<Heartbeat>,
    responses((status = 204)))]
pub(crate) async fn agent_heartbeat(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    MaybeJson(beat): MaybeJson<Heartbeat>,
) -> Result<Done> {
    app.agent_heartbeat(&caller, id, beat).map(|()| Done)
}

/// The generators that the agent agreed to serve.
#[utoipa::path(get, path = "/agents/{id}/registrations", tag = "agents",
    params(("id" = AgentId, Path)), responses((status = 200, body = Vec<Registration>)))]
pub(crate) async fn agent_registrations(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Vec<Registration>>> {
    app.agent_registrations(&caller, id).await.map(Answer)
}

/// The stacks that the agent is to hold, by target, label or annotation.
#[utoipa::path(get, path = "/agents/{id}/stacks", tag = "agents",
    params(("id" = AgentId, Path)), responses((status = 200, body = Vec<Stack>)))]
pub(crate) async fn agent_stacks(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Vec<Stack>>> {
    app.agent_stacks(&caller, id).await.map(Answer)
}
