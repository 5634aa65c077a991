//! For whoever runs the broker: is it alive, is it ready, what does it count. No key is needed.

use std::time::Duration;

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use http::{StatusCode, header};

use crate::app::App;
use crate::error::ApiError;

/// How long the database may take to show that it is there.
const READY_WITHIN: Duration = Duration::from_millis(750);

/// The process lives.
#[utoipa::path(get, path = "/healthz", tag = "operations",
    responses((status = 200, body = String, content_type = "text/plain")), security(()))]
pub(crate) async fn healthz() -> &'static str {
    "OK"
}

/// The broker can do its work: the database answers and memory follows it.
#[utoipa::path(get, path = "/readyz", tag = "operations",
    responses((status = 200, body = String, content_type = "text/plain")), security(()))]
pub(crate) async fn readyz(State(app): State<App>) -> Result<&'static str, ApiError> {
    let look = app.store.changes_since(app.fleet.applied(), 1);
    match tokio::time::timeout(READY_WITHIN, look).await {
        _ if app.stopping.is_cancelled() => Err(not_ready("stopping", "the broker is stopping")),
        Ok(Ok(_)) => Ok("OK"),
        Ok(Err(_)) | Err(_) => Err(not_ready(
            "database_unavailable",
            "the database does not answer",
        )),
    }
}

fn not_ready(code: &'static str, text: &str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, text).retry_after(1)
}

/// What the broker counts, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operations",
    responses((status = 200, body = String, content_type = "text/plain")), security(()))]
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    app.metrics
        .agents
        .set(i64::try_from(app.fleet.agents().len()).unwrap_or(i64::MAX));
    app.metrics.change.set(app.fleet.applied().0);
    let media = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, media)], app.metrics.shown()).into_response()
}

/// This page's own description.
pub(crate) async fn page() -> Html<&'static str> {
    Html(include_str!("../openapi.html"))
}
