//! Around every request: an id, one log line, one count, and the promise that whoever wrote
//! something finds it when they look.

use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use evenkeel_model::Role;
use http::{HeaderName, HeaderValue, Method, header};
use tokio::time::Instant;

use crate::app::{App, Core};
use crate::metrics::RequestLabels;

/// What answers, so that clients can tell whether they are of the same version.
const VERSION: HeaderValue =
    HeaderValue::from_static(concat!("evenkeel/", env!("CARGO_PKG_VERSION")));
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// How long an answer is held back until the writer can read what was written.
const CATCH_UP: Duration = Duration::from_secs(5);

/// Marks the answer of a request that waited on purpose; its duration means nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waited;

/// Gives the request an id, and leaves one line in the log and one count when it is answered.
pub(crate) async fn observe(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(&app, &request);
    let method = request.method().clone();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let path = request.uri().path().to_owned();
    let mut response = next.run(request).await;
    if writes(&method) && response.status().is_success() {
        settle(&app).await;
    }
    let took = began.elapsed();
    response.headers_mut().insert(REQUEST_ID, id.clone());
    response.headers_mut().insert(header::SERVER, VERSION);
    let seen = Seen {
        method: &method,
        matched: matched.as_ref(),
        path: &path,
        id: &id,
        took,
    };
    seen.note(&app, &response);
    response
}

const fn writes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Waits until memory contains what was just written.
async fn settle(app: &Core) {
    let newest = *app.store.change_newest().borrow();
    if tokio::time::timeout(CATCH_UP, app.fleet.contains(newest))
        .await
        .is_err()
    {
        tracing::warn!(change = %newest, "memory has not caught up with the store");
    }
}

fn request_id(app: &Core, request: &Request) -> HeaderValue {
    let sane = |value: &&HeaderValue| {
        value.len() <= 64 && value.as_bytes().iter().all(u8::is_ascii_graphic)
    };
    let given = request.headers().get(REQUEST_ID).filter(sane).cloned();
    given.unwrap_or_else(|| {
        let made_up = format!("{:016x}", app.random.next_u64());
        HeaderValue::from_str(&made_up).unwrap_or(HeaderValue::from_static("unknown"))
    })
}

struct Seen<'a> {
    method: &'a Method,
    matched: Option<&'a MatchedPath>,
    path: &'a str,
    id: &'a HeaderValue,
    took: Duration,
}

impl Seen<'_> {
    fn note(&self, app: &Core, response: &Response) {
        let status = response.status().as_u16();
        let labels = RequestLabels {
            endpoint: self
                .matched
                .map_or("unknown", MatchedPath::as_str)
                .to_owned(),
            method: method_name(self.method),
            status,
        };
        let waited = response.extensions().get::<Waited>().is_some();
        app.metrics.request(&labels, (!waited).then_some(self.took));
        tracing::info!(
            method = labels.method,
            path = self.path,
            status,
            took_us = self.took.as_micros() as u64,
            request_id = self.id.to_str().unwrap_or_default(),
            caller = %caller(response.extensions().get::<Role>()),
            "request"
        );
    }
}

/// Methods are an open list; labels are not.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

fn caller(role: Option<&Role>) -> String {
    match role {
        None => "nobody".to_owned(),
        Some(Role::Admin) => "admin".to_owned(),
        Some(Role::Readonly) => "readonly".to_owned(),
        Some(Role::Agent(id)) => format!("agent {id}"),
        Some(Role::Generator(id)) => format!("generator {id}"),
    }
}
