//! Reading requests, with refusals that are JSON like every other error.

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::error::{ApiError, Result};

/// The parts of the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<T, S> FromRequestParts<S> for Path<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        read.map(|axum::extract::Path(value)| Self(value))
            .map_err(|error: PathRejection| ApiError::bad("invalid_path", error.body_text()))
    }
}

/// The parameters after the question mark. Those that nobody knows are passed over.
pub(crate) struct Query<T>(pub(crate) T);

impl<T, S> FromRequestParts<S> for Query<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let read = axum::extract::Query::from_request_parts(parts, state).await;
        read.map(|axum::extract::Query(value)| Self(value))
            .map_err(|error: QueryRejection| ApiError::bad("invalid_query", error.body_text()))
    }
}

/// A JSON body.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        if let Some(other) = other_type(request.headers()) {
            return Err(unsupported(&other));
        }
        parse(&body(request, state).await?).map(Self)
    }
}

/// A JSON body that may be left out.
pub(crate) struct MaybeJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for MaybeJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let other = other_type(request.headers());
        let bytes = body(request, state).await?;
        match other {
            _ if bytes.is_empty() => Ok(Self(T::default())),
            Some(other) => Err(unsupported(&other)),
            None => parse(&bytes).map(Self),
        }
    }
}

/// Manifests: alone, as YAML, or within a JSON body.
pub(crate) enum Manifests<T> {
    /// The text itself.
    Raw(String),
    /// What holds it.
    Json(T),
}

impl<T: DeserializeOwned> Manifests<T> {
    /// Reads whichever the request says it is.
    pub(crate) async fn read<S: Send + Sync>(request: Request, state: &S) -> Result<Self> {
        let media = media_type(request.headers());
        let bytes = body(request, state).await?;
        match media.as_deref() {
            Some("application/yaml" | "text/yaml" | "application/x-yaml") => {
                let text = String::from_utf8(bytes.into());
                text.map(Self::Raw).map_err(|_| {
                    ApiError::bad("invalid_deployment_object", "the manifest is not UTF-8")
                })
            }
            None | Some("application/json") => parse(&bytes).map(Self::Json),
            Some(other) => Err(unsupported(other)),
        }
    }
}

/// The whole body.
async fn body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes> {
    Bytes::from_request(request, state)
        .await
        .map_err(|error: BytesRejection| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(
                error.status(),
                "body_too_large",
                "the request body is too large",
            ),
            _ => ApiError::bad("invalid_body", error.body_text()),
        })
}

/// The media type of the body, without parameters, in lower case.
fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().unwrap_or("?");
    Some(
        value
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase(),
    )
}

fn other_type(headers: &HeaderMap) -> Option<String> {
    let is_json = |media: &String| media == "application/json" || media.ends_with("+json");
    media_type(headers).filter(|media| !is_json(media))
}

fn unsupported(media: &str) -> ApiError {
    let text = format!("a body of type `{media}` is not understood here");
    ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        text,
    )
}

/// Text that is no JSON is the caller's slip; JSON that does not fit is a misunderstanding.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            ApiError::unprocessable("invalid_body", error.to_string())
        } else {
            ApiError::bad("invalid_json", error.to_string())
        }
    })
}
