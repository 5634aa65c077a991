//! Answers that need more than a body.

use axum::Json;
use axum::response::{IntoResponse, Response};
use evenkeel_api::NEXT_CURSOR;
use evenkeel_model::Page;
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

/// A part of a list: a plain array, with the place to go on in a header.
pub(crate) struct Paged<T>(pub(crate) Page<T>);

impl<T: Serialize> IntoResponse for Paged<T> {
    fn into_response(self) -> Response {
        let Page { items, next } = self.0;
        let mut response = Json(items).into_response();
        if let Some(cursor) = next {
            let name = HeaderName::from_static(NEXT_CURSOR);
            response
                .headers_mut()
                .insert(name, HeaderValue::from(cursor.0));
        }
        response
    }
}

/// Something that did not exist before.
pub(crate) struct Created<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

/// Done, and nothing to say about it.
pub(crate) struct Done;

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}
