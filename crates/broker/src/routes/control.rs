//! Control of stacks: suspend, resume, look anew, approve, what becomes of drift; and drift.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{Approval, DriftChoice, DriftQuery, FoundDrift, Stack};
use evenkeel_model::{ControlRequest, StackId};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Json, MaybeJson, Path, Query};
use crate::respond::Paged;

/// Tells every agent to leave the stack alone: nothing is applied, pruned or repaired. They go on
/// reporting its health.
#[utoipa::path(post, path = "/stacks/{id}/suspend", tag = "control",
    params(("id" = StackId, Path)), responses((status = 200, body = Stack)))]
pub(crate) async fn stack_suspend(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Answer<Stack>> {
    let request = ControlRequest::Suspend;
    app.stack_control(&caller, id, request).await.map(Answer)
}

/// Tells every agent to go on with the stack.
#[utoipa::path(post, path = "/stacks/{id}/resume", tag = "control",
    params(("id" = StackId, Path)), responses((status = 200, body = Stack)))]
pub(crate) async fn stack_resume(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Answer<Stack>> {
    let request = ControlRequest::Resume;
    app.stack_control(&caller, id, request).await.map(Answer)
}

/// Tells every agent to look at the whole stack anew and compare all of it with its cluster.
#[utoipa::path(post, path = "/stacks/{id}/reconcile", tag = "control",
    params(("id" = StackId, Path)), responses((status = 200, body = Stack)))]
pub(crate) async fn stack_reconcile(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Answer<Stack>> {
    let request = ControlRequest::Reconcile;
    app.stack_control(&caller, id, request).await.map(Answer)
}

/// Lets removals go on that wait for somebody's word. Without a body those of the newest object
/// on which an agent waits; 409 if none does. A named object may be approved beforehand.
#[utoipa::path(post, path = "/stacks/{id}/approve", tag = "control",
    params(("id" = StackId, Path)), request_body = Option<Approval>,
    responses((status = 200, body = Stack)))]
pub(crate) async fn stack_approve(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    MaybeJson(approval): MaybeJson<Approval>,
) -> Result<Answer<Stack>> {
    let request = ControlRequest::Approve(approval.sequence_id);
    app.stack_control(&caller, id, request).await.map(Answer)
}

/// Tells every agent what to do about drift of the stack: `off` (nobody looks), `warn` (it is told
/// and left) or `enforce` (it is repaired). Without a mode each does what its own settings say.
#[utoipa::path(put, path = "/stacks/{id}/drift-mode", tag = "control",
    params(("id" = StackId, Path)), request_body = DriftChoice,
    responses((status = 200, body = Stack)))]
pub(crate) async fn stack_drift_mode(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    Json(choice): Json<DriftChoice>,
) -> Result<Answer<Stack>> {
    let request = ControlRequest::Drift(choice.mode);
    app.stack_control(&caller, id, request).await.map(Answer)
}

/// What others changed in the clusters, newest first. A generator names a stack of its own.
#[utoipa::path(get, path = "/drift", tag = "control", params(DriftQuery),
    responses((status = 200, body = Vec<FoundDrift>)))]
pub(crate) async fn drift_list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<DriftQuery>,
) -> Result<Paged<FoundDrift>> {
    app.drift_list(&caller, query).await.map(Paged)
}
