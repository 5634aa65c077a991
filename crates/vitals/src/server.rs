//! The endpoints.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{StatusCode, header};
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::checks::Checks;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What a process shows of itself.
#[derive(Debug)]
pub struct Vitals {
    /// What it needs.
    pub checks: Checks,
    /// What it counts.
    pub registry: Registry,
}

impl Vitals {
    /// Answers on `listener` until `shutdown`.
    ///
    /// # Errors
    /// When the listener cannot be used any more.
    pub async fn serve(self, listener: TcpListener, shutdown: CancellationToken) -> io::Result<()> {
        let router = Router::new()
            .route("/healthz", get(async || "ok\n"))
            .route("/readyz", get(readyz))
            .route("/metrics", get(metrics))
            .with_state(Arc::new(self));
        axum::serve(listener, router)
            .with_graceful_shutdown(shutdown.cancelled_owned())
            .await
    }
}

async fn readyz(State(vitals): State<Arc<Vitals>>) -> Response {
    let status = if vitals.checks.all_pass() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, vitals.checks.to_string()).into_response()
}

async fn metrics(State(vitals): State<Arc<Vitals>>) -> Response {
    let mut shown = String::new();
    match text::encode(&mut shown, &vitals.registry) {
        Ok(()) => ([(header::CONTENT_TYPE, OPEN_METRICS)], shown).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
