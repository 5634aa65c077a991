//! Targets: explicit ties between agents and stacks.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{NewTarget, Target};
use evenkeel_model::{AgentId, StackId};

use crate::app::App;
use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::extract::{Json, Path};
use crate::respond::{Created, Done};

/// The agent's explicit targets.
#[utoipa::path(get, path = "/agents/{id}/targets", tag = "targets",
    params(("id" = AgentId, Path)), responses((status = 200, body = Vec<Target>)))]
pub(crate) async fn target_list(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Vec<Target>>> {
    app.target_list(&caller, id).await.map(Answer)
}

/// Ties a stack to the agent, which must be registered with the stack's generator.
#[utoipa::path(post, path = "/agents/{id}/targets", tag = "targets",
    params(("id" = AgentId, Path)), request_body = NewTarget,
    responses((status = 201, body = Target)))]
pub(crate) async fn target_create(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    Json(new): Json<NewTarget>,
) -> Result<Created<Target>> {
    if new.agent_id.is_some_and(|named| named != id) {
        return Err(ApiError::bad(
            "agent_id_mismatch",
            "the body names another agent",
        ));
    }
    app.target_create(&caller, id, new.stack_id)
        .await
        .map(Created)
}

/// Removes the tie. The agent is told to release the stack unless something else ties the two.
#[utoipa::path(delete, path = "/agents/{id}/targets/{stack_id}", tag = "targets",
    params(("id" = AgentId, Path), ("stack_id" = StackId, Path)), responses((status = 204)))]
pub(crate) async fn target_delete(
    State(app): State<App>,
    caller: Caller,
    Path((id, stack)): Path<(AgentId, StackId)>,
) -> Result<Done> {
    app.target_delete(&caller, id, stack).await.map(|()| Done)
}
