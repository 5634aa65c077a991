//! The cloud over HTTP.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query as Asked, Request, State};
use axum::http::header::{IF_MATCH, RETRY_AFTER};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cloud::{Cloud, Refusal};
use crate::query::Query;
use crate::vices::Vices;
use crate::wire::{Change, NewShape, Page, Problem, Shape};

type Here = State<Arc<Cloud>>;

/// Every call of the cloud: shapes under `/v1/shapes`, what is wrong with it under `/v1/vices`.
pub fn router(cloud: Arc<Cloud>) -> Router {
    let shapes = Router::new()
        .route("/v1/shapes", get(list).post(create))
        .route("/v1/shapes/{id}", get(show).patch(change).delete(remove))
        .route_layer(from_fn_with_state(cloud.clone(), with_vices));
    let vices = Router::new().route("/v1/vices", get(show_vices).put(set_vices));
    shapes.merge(vices).with_state(cloud)
}

/// Serves the cloud until `stop`.
pub async fn serve(
    listener: TcpListener,
    cloud: Arc<Cloud>,
    stop: CancellationToken,
) -> io::Result<()> {
    axum::serve(listener, router(cloud))
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
}

async fn create(
    State(cloud): Here,
    Json(new): Json<NewShape>,
) -> Result<(StatusCode, Json<Shape>), Refusal> {
    cloud
        .create(new)
        .map(|shape| (StatusCode::CREATED, Json(shape)))
}

async fn list(State(cloud): Here, Asked(query): Asked<Query>) -> Result<Json<Page>, Refusal> {
    cloud.list(&query).map(Json)
}

async fn show(State(cloud): Here, Path(id): Path<String>) -> Result<Json<Shape>, Refusal> {
    cloud.get(&id).map(Json)
}

async fn change(
    State(cloud): Here,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(change): Json<Change>,
) -> Result<Json<Shape>, Refusal> {
    cloud.update(&id, change, expected(&headers)).map(Json)
}

async fn remove(
    State(cloud): Here,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    cloud
        .delete(&id, expected(&headers))
        .map(|()| StatusCode::NO_CONTENT)
}

async fn show_vices(State(cloud): Here) -> Json<Vices> {
    Json(cloud.vices())
}

async fn set_vices(State(cloud): Here, Json(vices): Json<Vices>) -> Json<Vices> {
    cloud.set_vices(vices);
    Json(vices)
}

fn expected(headers: &HeaderMap) -> Option<u64> {
    let version = headers.get(IF_MATCH)?.to_str().ok()?;
    version.trim_matches('"').parse().ok()
}

/// What real clouds do to calls before and after they do what they are asked.
async fn with_vices(State(cloud): Here, request: Request, next: Next) -> Response {
    let vices = cloud.vices();
    if vices.slow > 0 {
        tokio::time::sleep(vices.delay()).await;
    }
    if cloud.is_too_much() {
        let busy = problem(StatusCode::TOO_MANY_REQUESTS, "Busy", "too many calls");
        return ([(RETRY_AFTER, "1")], busy).into_response();
    }
    if cloud.happens(vices.fails) {
        return problem(
            StatusCode::INTERNAL_SERVER_ERROR,
            "Failed",
            "something went wrong",
        );
    }
    let changes = request.method() != Method::GET;
    let answer = next.run(request).await;
    match changes && cloud.happens(vices.loses_replies) {
        true => lost(),
        false => answer,
    }
}

/// An answer that breaks off before it says anything.
fn lost() -> Response {
    let broken = futures::stream::once(async { Err::<Vec<u8>, _>(io::Error::other("lost")) });
    Response::new(Body::from_stream(broken))
}

fn problem(status: StatusCode, code: &str, message: &str) -> Response {
    let problem = Problem {
        code: code.to_owned(),
        message: message.to_owned(),
    };
    (status, Json(problem)).into_response()
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, code) = match &self {
            Self::NotFound(_) => (StatusCode::NOT_FOUND, "NotFound"),
            Self::Changed { .. } => (StatusCode::PRECONDITION_FAILED, "Changed"),
            Self::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, "Invalid"),
            Self::TokenUsed(_) => (StatusCode::CONFLICT, "TokenUsed"),
        };
        problem(status, code, &self.to_string())
    }
}
