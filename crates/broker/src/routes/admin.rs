//! For administrators: the audit log and background work.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{AuditPage, TaskStatus};
use evenkeel_model::{Action, ActorKind};
use evenkeel_store::AuditFilter;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::Query;

/// Which lines of the audit log are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// Those of this kind of actor.
    actor_type: Option<ActorKind>,
    /// Those of this actor.
    actor_id: Option<Uuid>,
    /// Those about this action.
    action: Option<Action>,
    /// Those about this thing.
    resource_id: Option<Uuid>,
    /// At most so many; 100 unless said otherwise.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Pass over so many.
    offset: Option<u32>,
}

/// Who did what, newest first.
#[utoipa::path(get, path = "/admin/audit-logs", tag = "admin", params(AuditQuery),
    responses((status = 200, body = AuditPage)))]
pub(crate) async fn audit_list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<AuditQuery>,
) -> Result<Answer<AuditPage>> {
    let filter = AuditFilter {
        actor_kind: query.actor_type,
        actor_id: query.actor_id,
        action: query.action,
        resource_id: query.resource_id,
    };
    let limit = query.limit.unwrap_or(100).clamp(1, 1000);
    app.audit_list(&caller, filter, limit, query.offset.unwrap_or(0))
        .await
        .map(Answer)
}

/// Background work on this broker and how it last went.
#[utoipa::path(get, path = "/admin/tasks", tag = "admin",
    responses((status = 200, body = Vec<TaskStatus>)))]
pub(crate) async fn task_list(
    State(app): State<App>,
    caller: Caller,
) -> Result<Answer<Vec<TaskStatus>>> {
    caller.operator().map(|()| Answer(app.board.shown()))
}
