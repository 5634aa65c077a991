//! The route table: every path of the broker, in one place. A route is declared by its handler's
//! own description, so the document that is served cannot disagree with what answers.
//!
//! Templates, work orders, diagnostics and telemetry have their place in [`api`], one line each.

use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use axum::{Json, Router};
use http::{Method, StatusCode, Uri};
use tower_http::compression::CompressionLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::authenticate;
use crate::error::ApiError;
use crate::observe::observe;
use crate::openapi;
use crate::panic::report_panics;
use crate::routes::{
    admin, agent, auth, control, deployment, diff, event, fleet, generator, health, operations,
    stack, tag, target, target_state, webhook,
};

/// Where the API lives.
pub(crate) const API: &str = "/api/v1";

/// Everything that needs a key.
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(auth::auth_pak))
        .routes(routes!(auth::pak_list))
        .routes(routes!(auth::key_list, auth::key_create))
        .routes(routes!(auth::key_revoke))
        .routes(routes!(
            generator::generator_list,
            generator::generator_create
        ))
        .routes(routes!(
            generator::generator_get,
            generator::generator_update,
            generator::generator_delete
        ))
        .routes(routes!(generator::generator_rotate))
        .routes(routes!(
            generator::registration_create,
            generator::registration_delete
        ))
        .routes(routes!(generator::generator_registrations))
        .merge(agents())
        .merge(stacks())
        .routes(routes!(event::event_list))
        .routes(routes!(event::event_get))
        .routes(routes!(fleet::fleet))
        .routes(routes!(control::drift_list))
        .routes(routes!(webhook::webhook_list, webhook::webhook_create))
        .routes(routes!(webhook::webhook_event_types))
        .routes(routes!(
            webhook::webhook_get,
            webhook::webhook_update,
            webhook::webhook_delete
        ))
        .routes(routes!(webhook::webhook_test))
        .routes(routes!(webhook::delivery_list))
        .routes(routes!(webhook::delivery_replay))
        .routes(routes!(admin::audit_list))
        .routes(routes!(admin::task_list))
}

fn agents() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(agent::agent_list, agent::agent_create))
        .routes(routes!(agent::agent_find))
        .routes(routes!(
            agent::agent_get,
            agent::agent_update,
            agent::agent_delete
        ))
        .routes(routes!(agent::agent_rotate))
        .routes(routes!(agent::agent_heartbeat))
        .routes(routes!(agent::agent_registrations))
        .routes(routes!(agent::agent_stacks))
        .routes(routes!(event::agent_events, event::event_record))
        .routes(routes!(tag::agent_labels, tag::agent_label_add))
        .routes(routes!(tag::agent_label_remove))
        .routes(routes!(tag::agent_annotations, tag::agent_annotation_add))
        .routes(routes!(tag::agent_annotation_remove))
        .routes(routes!(target::target_list, target::target_create))
        .routes(routes!(target::target_delete))
        .routes(routes!(target_state::target_state))
        .routes(routes!(target_state::agent_manifest))
        .routes(routes!(health::health_report))
        .routes(routes!(fleet::agent_fleet_status))
        .routes(routes!(fleet::agent_status))
        .routes(routes!(diff::agent_diffs))
        .routes(routes!(diff::diff_answer))
        .routes(routes!(webhook::agent_deliveries))
}

fn stacks() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(stack::stack_list, stack::stack_create))
        .routes(routes!(
            stack::stack_get,
            stack::stack_update,
            stack::stack_delete
        ))
        .routes(routes!(stack::stack_status))
        .routes(routes!(control::stack_suspend))
        .routes(routes!(control::stack_resume))
        .routes(routes!(control::stack_reconcile))
        .routes(routes!(control::stack_approve))
        .routes(routes!(control::stack_drift_mode))
        .routes(routes!(diff::diff_create))
        .routes(routes!(diff::diff_get))
        .routes(routes!(
            deployment::deployment_list,
            deployment::deployment_create
        ))
        .routes(routes!(deployment::deployment_newest))
        .routes(routes!(deployment::deployment_get))
        .routes(routes!(health::deployment_health))
        .routes(routes!(health::stack_health))
        .routes(routes!(tag::stack_labels, tag::stack_label_add))
        .routes(routes!(tag::stack_label_remove))
        .routes(routes!(tag::stack_annotations, tag::stack_annotation_add))
        .routes(routes!(tag::stack_annotation_remove))
}

/// What needs no key.
fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(operations::healthz))
        .routes(routes!(operations::readyz))
        .routes(routes!(operations::metrics))
}

/// The description of the API.
pub(crate) fn document() -> OpenApi {
    let described = OpenApiRouter::with_openapi(openapi::frame()).merge(operations());
    openapi::finished(described.nest(API, api()).into_openapi())
}

/// Everything that the broker answers.
pub(crate) fn router(app: App) -> Router {
    let document = document();
    let keyed = Router::from(api())
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(app.clone(), authenticate));
    Router::from(operations())
        .route("/openapi.json", get(async move || Json(document)))
        .route("/docs", get(operations::page))
        .nest(API, keyed)
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(DefaultBodyLimit::max(app.config.limits.body_bytes))
        .layer(from_fn(report_panics))
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(app.clone(), observe))
        .with_state(app)
}

async fn not_found(uri: Uri) -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "not_found",
        format!("there is nothing at {}", uri.path()),
    )
}

async fn not_allowed(method: Method, uri: Uri) -> ApiError {
    let text = format!("{method} is not possible on {}", uri.path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", text)
}
