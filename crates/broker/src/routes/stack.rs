//! Stacks.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{AssignmentStatus, ListQuery, NewStack, Stack, StackUpdate};
use evenkeel_model::{GeneratorId, StackId};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Json, Path, Query};
use crate::respond::{Created, Done, Paged};

/// Narrows a list to one tenant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TenantQuery {
    /// Only what belongs to this generator.
    pub(crate) pak_id: Option<GeneratorId>,
}

/// The stacks; for a generator, its own.
#[utoipa::path(get, path = "/stacks", tag = "stacks", params(ListQuery, TenantQuery),
    responses((status = 200, body = Vec<Stack>)))]
pub(crate) async fn stack_list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ListQuery>,
    Query(tenant): Query<TenantQuery>,
) -> Result<Paged<Stack>> {
    app.stack_list(&caller, query, tenant.pak_id)
        .await
        .map(Paged)
}

/// Creates a stack.
#[utoipa::path(post, path = "/stacks", tag = "stacks", request_body = NewStack,
    responses((status = 201, body = Stack)))]
pub(crate) async fn stack_create(
    State(app): State<App>,
    caller: Caller,
    Json(new): Json<NewStack>,
) -> Result<Created<Stack>> {
    app.stack_create(&caller, new).await.map(Created)
}

/// One stack.
#[utoipa::path(get, path = "/stacks/{id}", tag = "stacks", params(("id" = StackId, Path)),
    responses((status = 200, body = Stack)))]
pub(crate) async fn stack_get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Answer<Stack>> {
    app.stack_get(&caller, id).await.map(Answer)
}

/// Changes a stack's name or description. Its owner cannot be changed.
#[utoipa::path(put, path = "/stacks/{id}", tag = "stacks", params(("id" = StackId, Path)),
    request_body = StackUpdate, responses((status = 200, body = Stack)))]
pub(crate) async fn stack_update(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    Json(update): Json<StackUpdate>,
) -> Result<Answer<Stack>> {
    app.stack_update(&caller, id, update).await.map(Answer)
}

/// Deletes a stack. Every agent that may hold it is told to remove it, until it has confirmed.
#[utoipa::path(delete, path = "/stacks/{id}", tag = "stacks", params(("id" = StackId, Path)),
    responses((status = 204)))]
pub(crate) async fn stack_delete(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Done> {
    app.stack_delete(&caller, id).await.map(|()| Done)
}

/// How far each agent is with the stack, how its objects are doing there, and what it waits for.
#[utoipa::path(get, path = "/stacks/{id}/status", tag = "stacks",
    params(("id" = StackId, Path), ListQuery),
    responses((status = 200, body = Vec<AssignmentStatus>)))]
pub(crate) async fn stack_status(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    Query(query): Query<ListQuery>,
) -> Result<Paged<AssignmentStatus>> {
    app.stack_status(&caller, id, &query).await.map(Paged)
}
