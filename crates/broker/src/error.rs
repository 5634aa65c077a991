//! The one error of the API: a status, a stable code, a sentence, particulars.
use axum::response::{IntoResponse, Response};
use evenkeel_ambient::chain;
use evenkeel_api::ErrorBody;
use evenkeel_manifest::ManifestError;
use evenkeel_model::InvalidName;
use evenkeel_store::Error as StoreError;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// The result of anything that a caller asks for.
pub(crate) type Result<T, E = ApiError> = std::result::Result<T, E>;

/// Why a request was refused or failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{code}: {message}")]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) details: Option<Value>,
    /// When to come again.
    pub(crate) retry_after: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            details: None,
            retry_after: None,
        }
    }

    pub(crate) fn bad(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(crate) fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }

    pub(crate) fn unprocessable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    pub(crate) fn not_found(noun: &str, id: impl std::fmt::Display) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            format!("there is no {noun} {id}"),
        )
    }

    /// A field that may be sent back but not changed.
    pub(crate) fn immutable(field: &'static str) -> Self {
        Self::unprocessable("immutable_field", format!("`{field}` cannot be changed"))
            .with(json!({ "field": field }))
    }

    #[must_use]
    pub(crate) fn with(self, details: Value) -> Self {
        Self {
            details: Some(details),
            ..self
        }
    }

    #[must_use]
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self {
            retry_after: Some(seconds),
            ..self
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self {
            status,
            code,
            message,
            details,
            retry_after,
        } = self;
        let body = axum::Json(ErrorBody {
            code: code.to_owned(),
            message,
            details,
        });
        let mut response = (status, body).into_response();
        if let Some(seconds) = retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<InvalidName> for ApiError {
    fn from(error: InvalidName) -> Self {
        Self::unprocessable("check_violation", error.to_string())
    }
}

impl From<ManifestError> for ApiError {
    fn from(error: ManifestError) -> Self {
        let refusal = match &error {
            ManifestError::TooLarge { .. } | ManifestError::TooMany { .. } => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "manifest_too_large",
                error.to_string(),
            ),
            _ => Self::bad("invalid_deployment_object", error.to_string()),
        };
        match error.place() {
            Some(place) => refusal.with(json!({ "document": place.document, "line": place.line })),
            None => refusal,
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match &error {
            StoreError::NotFound { .. } => Self::new(StatusCode::NOT_FOUND, "not_found", text),
            StoreError::Conflict { constraint } => {
                Self::new(StatusCode::CONFLICT, conflict_code(constraint), text)
                    .with(json!({ "constraint": constraint }))
            }
            StoreError::MissingReference { constraint } => missing(constraint, text),
            StoreError::Stale {
                expected, newest, ..
            } => Self::new(StatusCode::CONFLICT, "stale_revision", text)
                .with(json!({ "expected": expected, "newest": newest })),
            StoreError::KeyReused { .. } => {
                Self::new(StatusCode::CONFLICT, "idempotency_key_reused", text)
            }
            StoreError::NotRegistered { .. } => Self::forbidden("agent_not_registered", text),
            StoreError::NotAssigned { .. } => Self::forbidden("agent_not_associated", text),
            StoreError::NoTakeover { .. } => Self::bad("invalid_take_from", text),
            StoreError::NothingWaits(_) => Self::new(StatusCode::CONFLICT, "nothing_waits", text),
            StoreError::TooManyDiffs { .. } => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_diffs", text).retry_after(60)
            }
            StoreError::SystemGenerator(_) => {
                Self::forbidden("cannot_delete_system_generator", text)
            }
            StoreError::LeaseLost { .. } => Self::new(StatusCode::CONFLICT, "lease_lost", text),
            StoreError::OutcomeUnknown(_) => unavailable("outcome_unknown", &error),
            StoreError::Database(_) | StoreError::Closed => {
                unavailable("database_unavailable", &error)
            }
            _ => internal(&error),
        }
    }
}

fn conflict_code(constraint: &str) -> &'static str {
    match constraint {
        "registrations_agent_id_generator_id_key" => "already_registered",
        _ => "unique_violation",
    }
}

fn missing(constraint: &str, text: String) -> ApiError {
    let details = json!({ "constraint": constraint });
    match constraint {
        "targets_stack_id_fkey" => {
            ApiError::new(StatusCode::NOT_FOUND, "stack_not_found", text).with(details)
        }
        "registrations_generator_id_fkey" => {
            ApiError::bad("invalid_generator_id", text).with(details)
        }
        _ => ApiError::unprocessable("foreign_key_violation", text).with(details),
    }
}

/// What went wrong inside is logged, here and once; the caller learns only that it did.
fn internal(error: &StoreError) -> ApiError {
    tracing::error!(error = %chain(error), "a request failed because of a fault");
    let text = "the broker failed; its log says why";
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", text)
}

fn unavailable(code: &'static str, error: &StoreError) -> ApiError {
    tracing::error!(error = %chain(error), "a request failed because of the database");
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, error.to_string()).retry_after(1)
}
