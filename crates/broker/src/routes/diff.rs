//! Diffs: what a revision would change in the live clusters.

use axum::Json as Answer;
use axum::extract::{FromRequest, Request, State};
use evenkeel_api::{Diff, DiffAnswer, DiffTicket, NewDiff, PendingDiff};
use evenkeel_model::{AgentId, DiffId, StackId};
use http::StatusCode;

use crate::app::App;
use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::extract::{Json, Manifests, Path};
use crate::respond::Done;

/// The manifests of a question, however they came.
pub(crate) struct Asked(String);

impl<S: Send + Sync> FromRequest<S> for Asked {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        Ok(Self(match Manifests::read(request, state).await? {
            Manifests::Raw(text) => text,
            Manifests::Json(NewDiff { yaml_content }) => yaml_content,
        }))
    }
}

/// Asks every ACTIVE agent that serves the stack what these manifests would change: JSON, or the
/// manifests themselves as `application/yaml`. The question is forgotten after ten minutes.
#[utoipa::path(post, path = "/stacks/{id}/diffs", tag = "diffs", params(("id" = StackId, Path)),
    request_body(content((NewDiff = "application/json"), (String = "application/yaml"))),
    responses((status = 202, body = DiffTicket)))]
pub(crate) async fn diff_create(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    Asked(manifests): Asked,
) -> Result<(StatusCode, Answer<DiffTicket>)> {
    let ticket = app.diff_create(&caller, id, manifests).await?;
    Ok((StatusCode::ACCEPTED, Answer(ticket)))
}

/// What the agents found so far, and who has not answered yet.
#[utoipa::path(get, path = "/stacks/{id}/diffs/{diff_id}", tag = "diffs",
    params(("id" = StackId, Path), ("diff_id" = DiffId, Path)),
    responses((status = 200, body = Diff)))]
pub(crate) async fn diff_get(
    State(app): State<App>,
    caller: Caller,
    Path((id, diff)): Path<(StackId, DiffId)>,
) -> Result<Answer<Diff>> {
    app.diff_get(&caller, id, diff).await.map(Answer)
}

/// What the agent is asked and has not answered, oldest first; at most a few at a time. Look again
/// after answering, and whenever `x-evenkeel-inbox` of the target state has grown.
#[utoipa::path(get, path = "/agents/{id}/diffs", tag = "diffs", params(("id" = AgentId, Path)),
    responses((status = 200, body = Vec<PendingDiff>)))]
pub(crate) async fn agent_diffs(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Vec<PendingDiff>>> {
    app.agent_diffs(&caller, id).await.map(Answer)
}

/// Answers a question. Values of secrets must not be among it.
#[utoipa::path(post, path = "/agents/{id}/diffs/{diff_id}", tag = "diffs",
    params(("id" = AgentId, Path), ("diff_id" = DiffId, Path)), request_body = DiffAnswer,
    responses((status = 204)))]
pub(crate) async fn diff_answer(
    State(app): State<App>,
    caller: Caller,
    Path((id, diff)): Path<(AgentId, DiffId)>,
    Json(answer): Json<DiffAnswer>,
) -> Result<Done> {
    app.diff_answer(&caller, id, diff, answer)
        .await
        .map(|()| Done)
}
