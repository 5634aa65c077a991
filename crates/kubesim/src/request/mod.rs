//! From an HTTP request to what it asks for.
//!
//! ```text
//! path ──▶ Route      query ──▶ options      headers ──▶ Accept, content type      bytes ──▶ Value
//! ```
//!
//! Nothing here looks at the cluster, and nothing here panics, whatever the bytes.

mod accept;
mod body;
mod duplicates;
mod impersonation;
mod options;
mod path;
mod query;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};

pub(crate) use accept::{Accept, Encoding, Form, TableVersion};
pub(crate) use body::{Decoded, decode, decode_patch_yaml, media_type};
pub(crate) use impersonation::Impersonation;
pub(crate) use options::{
    DeleteOptions, FieldValidation, GetOptions, ListOptions, Preconditions, Propagation,
    RevisionMatch, WatchOptions, WriteOptions,
};
pub(crate) use path::{ResourcePath, Route};
pub(crate) use query::Query;

use crate::access::User;
use crate::status::ApiError;

/// One request, taken apart.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    pub(crate) method: Method,
    pub(crate) route: Route,
    pub(crate) query: Query,
    pub(crate) content_type: String,
    pub(crate) user_agent: String,
    pub(crate) body: Bytes,
    pub(crate) path: String,
    /// Who asks, if the connection tells.
    pub(crate) user: Option<User>,
    pub(crate) authorization: String,
    pub(crate) impersonation: Impersonation,
    accept: String,
}

impl ApiRequest {
    pub(crate) fn new(request: Request<Bytes>) -> Self {
        let (head, body) = request.into_parts();
        Self {
            route: Route::parse(head.uri.path()),
            query: Query::parse(head.uri.query().unwrap_or_default()),
            content_type: text(&head.headers, &header::CONTENT_TYPE),
            user_agent: text(&head.headers, &header::USER_AGENT),
            accept: text(&head.headers, &header::ACCEPT),
            path: head.uri.path().to_owned(),
            user: head.extensions.get().cloned(),
            authorization: text(&head.headers, &header::AUTHORIZATION),
            impersonation: Impersonation::read(&head.headers),
            method: head.method,
            body,
        }
    }

    /// The form in which the client wants its answer.
    pub(crate) fn accept(&self) -> Result<Accept, ApiError> {
        Accept::negotiate(&self.accept)
    }

    /// Who owns the fields that a write without a named manager sets: the program's name, as the
    /// client introduces itself.
    pub(crate) fn default_manager(&self) -> String {
        let name: String = self
            .user_agent
            .split('/')
            .next()
            .unwrap_or_default()
            .chars()
            .take(128)
            .collect();
        if name.is_empty() {
            "unknown".into()
        } else {
            name
        }
    }
}

fn text(headers: &HeaderMap, name: &header::HeaderName) -> String {
    let values = headers.get_all(name).iter();
    let mut values = values.filter_map(|value| value.to_str().ok());
    let mut text = values.next().unwrap_or_default().to_owned();
    for more in values {
        text.push(',');
        text.push_str(more);
    }
    text
}
