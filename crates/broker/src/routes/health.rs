//! Health of what was applied.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{DeploymentHealthSummary, HealthReport, StackHealth};
use evenkeel_model::{AgentId, DeploymentId, StackId};
use http::StatusCode;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Json, Path};

/// Reports the health of what the agent applied.
#[utoipa::path(patch, path = "/agents/{id}/health-status", tag = "health",
    params(("id" = AgentId, Path)), request_body = HealthReport, responses((status = 200)))]
pub(crate) async fn health_report(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    Json(report): Json<HealthReport>,
) -> Result<StatusCode> {
    app.health_report(&caller, id, report)
        .await
        .map(|()| StatusCode::OK)
}

/// How one deployment object is doing everywhere.
#[utoipa::path(get, path = "/deployment-objects/{id}/health", tag = "health",
    params(("id" = DeploymentId, Path)),
    responses((status = 200, body = DeploymentHealthSummary)))]
pub(crate) async fn deployment_health(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<DeploymentId>,
) -> Result<Answer<DeploymentHealthSummary>> {
    app.deployment_health(&caller, id).await.map(Answer)
}

/// How the newest revision of a stack is doing everywhere.
#[utoipa::path(get, path = "/stacks/{id}/health", tag = "health",
    params(("id" = StackId, Path)), responses((status = 200, body = StackHealth)))]
pub(crate) async fn stack_health(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Answer<StackHealth>> {
    app.stack_health(&caller, id).await.map(Answer)
}
