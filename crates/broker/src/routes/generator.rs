//! Generators and the agents that serve them.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{
    CreatedGenerator, Generator, GeneratorUpdate, ListQuery, NewGenerator, NewRegistration,
    Registration,
};
use evenkeel_model::GeneratorId;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Json, MaybeJson, Path, Query};
use crate::respond::{Created, Done, Paged};

/// The generators.
#[utoipa::path(get, path = "/generators", tag = "generators", params(ListQuery),
    responses((status = 200, body = Vec<Generator>)))]
pub(crate) async fn generator_list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Paged<Generator>> {
    app.generator_list(&caller, &query).await.map(Paged)
}

/// Creates a generator. Its key is shown this once.
#[utoipa::path(post, path = "/generators", tag = "generators", request_body = NewGenerator,
    responses((status = 201, body = CreatedGenerator)))]
pub(crate) async fn generator_create(
    State(app): State<App>,
    caller: Caller,
    Json(new): Json<NewGenerator>,
) -> Result<Created<CreatedGenerator>> {
    app.generator_create(&caller, new).await.map(Created)
}

/// One generator.
#[utoipa::path(get, path = "/generators/{id}", tag = "generators",
    params(("id" = GeneratorId, Path)), responses((status = 200, body = Generator)))]
pub(crate) async fn generator_get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<GeneratorId>,
) -> Result<Answer<Generator>> {
    app.generator_get(&caller, id).await.map(Answer)
}

/// Changes a generator's name or description; an administrator may also pause it.
#[utoipa::path(put, path = "/generators/{id}", tag = "generators",
    params(("id" = GeneratorId, Path)), request_body = GeneratorUpdate,
    responses((status = 200, body = Generator)))]
pub(crate) async fn generator_update(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<GeneratorId>,
    Json(update): Json<GeneratorUpdate>,
) -> Result<Answer<Generator>> {
    app.generator_update(&caller, id, update).await.map(Answer)
}

/// Deletes a generator with all its stacks.
#[utoipa::path(delete, path = "/generators/{id}", tag = "generators",
    params(("id" = GeneratorId, Path)), responses((status = 204)))]
pub(crate) async fn generator_delete(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<GeneratorId>,
) -> Result<Done> {
    app.generator_delete(&caller, id).await.map(|()| Done)
}

/// Replaces the generator's key; the old one opens nothing any more.
#[utoipa::path(post, path = "/generators/{id}/rotate-pak", tag = "generators",
    params(("id" = GeneratorId, Path)), responses((status = 201, body = CreatedGenerator)))]
pub(crate) async fn generator_rotate(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<GeneratorId>,
) -> Result<Created<CreatedGenerator>> {
    app.generator_rotate(&caller, id).await.map(Created)
}

/// An agent agrees to serve the generator. An agent speaks for itself.
#[utoipa::path(post, path = "/generators/{id}/register", tag = "generators",
    params(("id" = GeneratorId, Path)), request_body = Option<NewRegistration>,
    responses((status = 201, body = Registration)))]
pub(crate) async fn registration_create(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<GeneratorId>,
    MaybeJson(new): MaybeJson<NewRegistration>,
) -> Result<Created<Registration>> {
    app.registration_create(&caller, id, new.agent_id)
        .await
        .map(Created)
}

/// An agent no longer serves the generator, and is told to release what it holds of it.
#[utoipa::path(delete, path = "/generators/{id}/register", tag = "generators",
    params(("id" = GeneratorId, Path)), request_body = Option<NewRegistration>,
    responses((status = 204)))]
pub(crate) async fn registration_delete(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<GeneratorId>,
    MaybeJson(old): MaybeJson<NewRegistration>,
) -> Result<Done> {
    app.registration_delete(&caller, id, old.agent_id)
        .await
        .map(|()| Done)
}

/// The agents that serve the generator.
#[utoipa::path(get, path = "/generators/{id}/registered-agents", tag = "generators",
    params(("id" = GeneratorId, Path)), responses((status = 200, body = Vec<Registration>)))]
pub(crate) async fn generator_registrations(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<GeneratorId>,
) -> Result<Answer<Vec<Registration>>> {
    app.generator_registrations(&caller, id).await.map(Answer)
}
