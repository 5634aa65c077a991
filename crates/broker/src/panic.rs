//! A handler that panics is a fault of the program: its caller gets an error like any other.

use std::panic::AssertUnwindSafe;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use http::StatusCode;

use crate::error::ApiError;

/// Answers 500 for a handler that panicked; the panic itself was reported by the hook.
pub(crate) async fn report_panics(request: Request, next: Next) -> Response {
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => {
            tracing::error!("a request handler panicked");
            let text = "the broker failed; its log says why";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", text).into_response()
        }
    }
}
