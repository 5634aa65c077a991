//! Deployment objects.

use axum::Json as Answer;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use evenkeel_api::{DeploymentObject, ListQuery, NewDeployment};
use evenkeel_model::{DeploymentId, SequenceId, StackId};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::extract::{Manifests, Path, Query};
use crate::respond::Paged;
use crate::service::Submission;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Whether texts are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BodiesQuery {
    /// `false` leaves the manifests out; their checksums are there in any case.
    pub(crate) bodies: Option<bool>,
}

/// The revisions of a stack, newest first.
#[utoipa::path(get, path = "/stacks/{id}/deployment-objects", tag = "deployment objects",
    params(("id" = StackId, Path), ListQuery, BodiesQuery),
    responses((status = 200, body = Vec<DeploymentObject>)))]
pub(crate) async fn deployment_list(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    Query(query): Query<ListQuery>,
    Query(bodies): Query<BodiesQuery>,
) -> Result<Paged<DeploymentObject>> {
    let bodies = bodies.bodies.unwrap_or(true);
    app.deployment_list(&caller, id, query.paging(), bodies)
        .await
        .map(Paged)
}

/// The newest revision of a stack, without its text.
#[utoipa::path(get, path = "/stacks/{id}/deployment-objects/latest", tag = "deployment objects",
    params(("id" = StackId, Path)), responses((status = 200, body = DeploymentObject)))]
pub(crate) async fn deployment_newest(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
) -> Result<Answer<DeploymentObject>> {
    app.deployment_newest(&caller, id).await.map(Answer)
}

/// Marks raw YAML as a deletion marker.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MarkerQuery {
    /// For a body of raw YAML: asks agents to remove the stack's objects.
    deletion_marker: Option<bool>,
}

/// Submits a revision: JSON, or the manifests themselves as `application/yaml`.
///
/// `If-Match: "<sequence id>"` refuses with 409 unless that is the newest revision;
/// `If-None-Match: *` unless there is none. Submitting again with the same `Idempotency-Key` gives
/// the same object with 200.
#[utoipa::path(post, path = "/stacks/{id}/deployment-objects", tag = "deployment objects",
    params(("id" = StackId, Path), MarkerQuery,
        ("if-match" = Option<String>, Header, description = "The newest sequence id, quoted"),
        ("idempotency-key" = Option<String>, Header, description = "Names the submission")),
    request_body(content((NewDeployment = "application/json"), (String = "application/yaml"))),
    responses((status = 201, body = DeploymentObject), (status = 200, body = DeploymentObject)))]
pub(crate) async fn deployment_create(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<StackId>,
    submission: Submission,
) -> Result<Response> {
    let (object, is_new) = app.deployment_submit(&caller, id, submission).await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Answer(object)).into_response())
}

impl<S: Send + Sync> FromRequest<S> for Submission {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let headers = request.headers();
        let (if_newest, key) = (if_newest(headers)?, text(headers, IDEMPOTENCY_KEY)?);
        let query = axum::extract::Query::<MarkerQuery>::try_from_uri(request.uri());
        let query = query.map_err(|error| ApiError::bad("invalid_query", error.body_text()))?;
        let new = match Manifests::read(request, state).await? {
            Manifests::Json(new) => new,
            Manifests::Raw(yaml_content) => NewDeployment {
                yaml_content,
                is_deletion_marker: query.deletion_marker.unwrap_or(false),
                take_from: Vec::new(),
            },
        };
        Ok(Self {
            yaml_content: new.yaml_content,
            is_deletion_marker: new.is_deletion_marker,
            take_from: new.take_from,
            if_newest,
            idempotency_key: key,
        })
    }
}

/// The condition on the newest revision, if there is one.
fn if_newest(headers: &HeaderMap) -> Result<Option<Option<SequenceId>>> {
    if text(headers, header::IF_NONE_MATCH.as_str())?.is_some_and(|value| value.trim() == "*") {
        return Ok(Some(None));
    }
    let Some(value) = text(headers, header::IF_MATCH.as_str())? else {
        return Ok(None);
    };
    let sequence = value
        .trim()
        .trim_start_matches("W/")
        .trim_matches('"')
        .parse();
    sequence.map(|sequence| Some(Some(sequence))).map_err(|_| {
        ApiError::bad(
            "invalid_if_match",
            "If-Match must be a sequence id in quotes",
        )
    })
}

fn text(headers: &HeaderMap, name: &str) -> Result<Option<String>> {
    let value = headers
        .get(name)
        .map(|value| value.to_str().map(str::to_owned));
    value
        .transpose()
        .map_err(|_| ApiError::bad("invalid_header", format!("{name} is no text")))
}

/// One deployment object: JSON, or the manifests alone with `Accept: application/yaml`.
#[utoipa::path(get, path = "/deployment-objects/{id}", tag = "deployment objects",
    params(("id" = DeploymentId, Path)),
    responses((status = 200, content(
        (DeploymentObject = "application/json"), (String = "application/yaml")))))]
pub(crate) async fn deployment_get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<DeploymentId>,
    headers: HeaderMap,
) -> Result<Response> {
    let object = app.deployment_get(&caller, id).await?;
    let accepts = text(&headers, header::ACCEPT.as_str())?.unwrap_or_default();
    if accepts.contains("yaml") {
        let media = [(header::CONTENT_TYPE, "application/yaml")];
        return Ok((media, object.yaml_content.unwrap_or_default()).into_response());
    }
    Ok(Answer(object).into_response())
}
