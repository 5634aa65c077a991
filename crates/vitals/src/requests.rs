//! Requests to Kubernetes, counted by verb and code.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use tower::{Layer, Service};

/// Counts requests; also a `tower` layer. Clones share the numbers.
#[derive(Debug, Clone, Default)]
pub struct Requests(Family<Labels, Counter>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    verb: &'static str,
    /// The HTTP status; 0 when there was no answer.
    code: u16,
}

impl Requests {
    /// Shows the numbers as `kubernetes_requests` in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Requests to Kubernetes by verb and HTTP status (0: no answer)";
        registry.register("kubernetes_requests", help, self.0.clone());
    }

    /// The same client, counted.
    pub fn counted(&self, client: &Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let inner = client.clone();
        let send = tower::service_fn(move |request: Request<Body>| {
            let inner = inner.clone();
            async move { inner.send(request).await }
        });
        Client::new(self.layer(send), namespace)
    }

    /// How many requests of this verb ended with this code.
    pub fn count(&self, verb: Verb, code: u16) -> u64 {
        let verb = verb.as_str();
        let counted = self.0.get(&Labels { verb, code });
        counted.map_or(0, |counter| counter.get())
    }
}

impl<S> Layer<S> for Requests {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        let requests = self.clone();
        Counted { inner, requests }
    }
}

/// A service whose requests are counted.
#[derive(Debug, Clone)]
pub struct Counted<S> {
    inner: S,
    requests: Requests,
}

impl<S, B, R> Service<Request<B>> for Counted<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: 'static,
    R: 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let verb = Verb::of(&request).as_str();
        let counts = self.requests.0.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            let code = answer.as_ref().map_or(0, |answer| answer.status().as_u16());
            counts.get_or_create(&Labels { verb, code }).inc();
            answer
        })
    }
}

/// What a request asks of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// One object.
    Get,
    /// Many objects.
    List,
    /// What happens to them.
    Watch,
    /// A new object.
    Create,
    /// A whole object in place of another.
    Update,
    /// Part of an object.
    Patch,
    /// Server-side apply.
    Apply,
    /// A write of any sort that is only tried.
    DryRun,
    /// The end of an object.
    Delete,
    /// The end of many.
    DeleteCollection,
    /// Anything that is no object: discovery, versions, reviews.
    Other,
}

impl Verb {
    /// A stable word, fit for a metric label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Apply => "apply",
            Self::DryRun => "dry-run",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Other => "other",
        }
    }

    /// What `request` asks for.
    pub fn of<B>(request: &Request<B>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        let says = |wanted: &str| query.split('&').any(|pair| pair == wanted);
        let Some(named) = names_an_object(request.uri().path()) else {
            return Self::Other;
        };
        match *request.method() {
            Method::GET if says("watch=true") || says("watch=1") => Self::Watch,
            Method::GET if named => Self::Get,
            Method::GET => Self::List,
            _ if says("dryRun=All") => Self::DryRun,
            Method::POST => Self::Create,
            Method::PUT => Self::Update,
            Method::PATCH if is_apply(request) => Self::Apply,
            Method::PATCH => Self::Patch,
            Method::DELETE if named => Self::Delete,
            Method::DELETE => Self::DeleteCollection,
            _ => Self::Other,
        }
    }

    /// Whether the cluster is not the same afterwards.
    pub fn is_write(self) -> bool {
        match self {
            Self::Create
            | Self::Update
            | Self::Patch
            | Self::Apply
            | Self::Delete
            | Self::DeleteCollection => true,
            Self::Get | Self::List | Self::Watch | Self::DryRun | Self::Other => false,
        }
    }
}

fn is_apply<B>(request: &Request<B>) -> bool {
    let media = request.headers().get(http::header::CONTENT_TYPE);
    media.is_some_and(|media| media.as_bytes().starts_with(b"application/apply-patch"))
}

/// Whether a path names one object (or many); `None` when it is about none.
fn names_an_object(path: &str) -> Option<bool> {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (["api", _, rest @ ..] | ["apis", _, _, rest @ ..]) = parts.as_slice() else {
        return None;
    };
    match rest {
        [] => None,
        ["namespaces", _, _, rest @ ..] => Some(!rest.is_empty()),
        [_, rest @ ..] => Some(!rest.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verb(method: Method, uri: &str, media: &str) -> Verb {
        let request = Request::builder().method(method).uri(uri);
        let request = request.header(http::header::CONTENT_TYPE, media);
        Verb::of(&request.body(()).unwrap())
    }

    #[test]
    fn requests_are_told_apart() {
        let get = |uri| verb(Method::GET, uri, "application/json");
        assert_eq!(get("/api/v1/namespaces"), Verb::List);
        assert_eq!(get("/api/v1/namespaces/a"), Verb::Get);
        assert_eq!(get("/api/v1/namespaces/a/pods"), Verb::List);
        assert_eq!(get("/api/v1/namespaces/a/pods/b/log"), Verb::Get);
        assert_eq!(
            get("/apis/apps/v1/deployments?limit=1&watch=true"),
            Verb::Watch
        );
        assert_eq!(get("/apis/apps/v1"), Verb::Other);
        assert_eq!(get("/version"), Verb::Other);
        let apply = "application/apply-patch+yaml";
        let at = "/api/v1/namespaces/a/configmaps/b?force=true";
        assert_eq!(verb(Method::PATCH, at, apply), Verb::Apply);
        assert_eq!(
            verb(Method::PATCH, at, "application/merge-patch+json"),
            Verb::Patch
        );
        let tried = "/api/v1/namespaces/a/configmaps/b?dryRun=All";
        assert_eq!(verb(Method::PATCH, tried, apply), Verb::DryRun);
        assert_eq!(verb(Method::DELETE, at, ""), Verb::Delete);
        assert_eq!(
            verb(Method::DELETE, "/api/v1/configmaps", ""),
            Verb::DeleteCollection
        );
    }
}
