//! The fleet at a glance.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{AgentFleetStatus, AssignmentStatus, FleetAgentRecord};
use evenkeel_model::AgentId;

use super::stack::TenantQuery;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Path, Query};

/// Every agent and how it is doing.
#[utoipa::path(get, path = "/fleet", tag = "fleet", params(TenantQuery),
    responses((status = 200, body = Vec<FleetAgentRecord>)))]
pub(crate) async fn fleet(
    State(app): State<App>,
    caller: Caller,
    Query(tenant): Query<TenantQuery>,
) -> Result<Answer<Vec<FleetAgentRecord>>> {
    app.fleet(&caller, tenant.pak_id).await.map(Answer)
}

/// One agent, how it is doing, and its last events.
#[utoipa::path(get, path = "/agents/{id}/fleet-status", tag = "fleet",
    params(("id" = AgentId, Path)), responses((status = 200, body = AgentFleetStatus)))]
pub(crate) async fn agent_fleet_status(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<AgentFleetStatus>> {
    app.agent_fleet_status(&caller, id).await.map(Answer)
}

/// How far the agent is with each stack.
#[utoipa::path(get, path = "/agents/{id}/status", tag = "fleet",
    params(("id" = AgentId, Path)), responses((status = 200, body = Vec<AssignmentStatus>)))]
pub(crate) async fn agent_status(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Vec<AssignmentStatus>>> {
    app.agent_status(&caller, id).await.map(Answer)
}
