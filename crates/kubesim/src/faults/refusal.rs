//! Errors that the server answers without having been asked to do anything wrong.

use http::Response;
use http::header::RETRY_AFTER;

use super::Call;
use super::plan::Refusal;
use crate::body::Body;
use crate::reply::Reply;
use crate::request::{Accept, Encoding, Form};
use crate::status::{ApiError, Details};

/// What the server answers when it is out of order or busy.
pub(super) fn refused(refusal: Refusal) -> Response<Body> {
    let mut response = in_json(match refusal.code {
        // The gate that keeps a busy server from drowning answers before there are objects.
        429 => Reply::text(429, "Too many requests, please try again later.\n"),
        _ => error(refusal).into(),
    });
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// What the server answers a client without the right to do this.
pub(super) fn forbidden(user: &str, call: &Call) -> Response<Body> {
    let resource = match &call.subresource {
        Some(subresource) => format!("{}/{subresource}", call.resource.plural),
        None => call.resource.plural.to_string(),
    };
    let place = match &call.namespace {
        Some(namespace) => format!("in the namespace {namespace:?}"),
        None => "at the cluster scope".to_owned(),
    };
    let (verb, group) = (call.verb.as_str(), &call.resource.group);
    let why =
        format!("User {user:?} cannot {verb} resource {resource:?} in API group {group:?} {place}");
    let name = call.name.as_deref().unwrap_or_default();
    in_json(ApiError::forbidden(&call.resource, name, &why).into())
}

fn error(refusal: Refusal) -> ApiError {
    let (reason, message) = match refusal.code {
        401 => ("Unauthorized", "Unauthorized"),
        404 => (
            "NotFound",
            "the server could not find the requested resource",
        ),
        409 => ("Conflict", "the server reported a conflict"),
        410 => (
            "Expired",
            "The resourceVersion for the provided list is too old.",
        ),
        500 => (
            "InternalError",
            "Internal error occurred: etcdserver: request timed out",
        ),
        503 => (
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        ),
        504 => (
            "Timeout",
            "Timeout: request did not complete within the allotted timeout",
        ),
        _ => ("", "the server has refused the request"),
    };
    ApiError::new(refusal.code, reason, message).about(Details {
        retry_after_seconds: refusal.retry_after.unwrap_or_default(),
        ..Details::default()
    })
}

/// An answer to whatever the client accepts: JSON.
pub(crate) fn in_json(reply: Reply) -> Response<Body> {
    reply.into_response(Accept {
        form: Form::Object,
        encoding: Encoding::Json,
    })
}
