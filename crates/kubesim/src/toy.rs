//! A server just large enough to see what faults and adapters do to requests: config maps that
//! can be created, read, listed, watched and deleted.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use serde_json::{Value, json};

use crate::body::Body;
use crate::faults::{Backend, Freshness, Sight, View};
use crate::store::{Key, ResourceId, Store};
use crate::watch::{Lens, Start, Terms, watch};

/// The server.
#[derive(Debug, Default)]
pub(crate) struct Toy(Store);

struct Everything;

impl Lens for Everything {
    fn selects(&self, _: &Key, _: &Value) -> bool {
        true
    }

    fn show<'a>(&self, object: &'a Value) -> Cow<'a, Value> {
        Cow::Borrowed(object)
    }

    fn kind(&self) -> (&str, &str) {
        ("v1", "ConfigMap")
    }
}

impl Toy {
    /// Two views of one cluster.
    pub(crate) fn two_views() -> (View, View) {
        let toy = Arc::new(Self::default());
        (View::new(toy.clone(), "one"), View::new(toy, "two"))
    }
}

impl Backend for Toy {
    fn store(&self) -> &Store {
        &self.0
    }

    fn handle(&self, sight: &Sight, request: Request<Bytes>) -> Response<Body> {
        let maps = ResourceId::new("", "configmaps");
        let name = request
            .uri()
            .path()
            .strip_prefix("/api/v1/namespaces/shop/configmaps/");
        let key = Key::namespaced("shop", name.unwrap_or_default());
        let query = request.uri().query().unwrap_or_default();
        let body = match (request.method(), name) {
            (&Method::POST, _) => {
                let object: Value = serde_json::from_slice(request.body()).unwrap();
                let key = Key::namespaced("shop", object["metadata"]["name"].as_str().unwrap());
                self.0
                    .create(&maps, &key, object)
                    .unwrap()
                    .to_string()
                    .into()
            }
            (&Method::DELETE, Some(_)) => {
                let found = self.0.get(&maps, &key).unwrap();
                let revision = found["metadata"]["resourceVersion"].as_str().unwrap();
                self.0
                    .delete(&maps, &key, revision.parse().unwrap())
                    .unwrap()
                    .to_string()
                    .into()
            }
            (_, Some(_)) => {
                let found = sight.get(&maps, &key, Freshness::Latest);
                found
                    .map(|object| object.to_string())
                    .unwrap_or_default()
                    .into()
            }
            _ if query.contains("watch=1") => {
                let terms = Terms {
                    start: Start::State,
                    bookmarks: false,
                    timeout: None,
                };
                watch(sight, &maps, terms, Arc::new(Everything))
            }
            _ => {
                let freshness = match query.contains("resourceVersion=0") {
                    true => Freshness::Cached,
                    false => Freshness::Latest,
                };
                let list = sight.snapshot(&maps, freshness);
                let names: Vec<&str> = list.objects.keys().map(Key::name).collect();
                json!(names).to_string().into()
            }
        };
        Response::new(body)
    }
}

/// A request to create a config map.
pub(crate) fn create(name: &str) -> Request<Bytes> {
    let object = json!({ "metadata": { "name": name } });
    request(Method::POST, "", object.to_string().into())
}

/// A request to delete one.
pub(crate) fn delete(name: &str) -> Request<Bytes> {
    request(Method::DELETE, &format!("/{name}"), Bytes::new())
}

/// A request to list, watch or get them: `rest` is what follows the resource's path.
pub(crate) fn get(rest: &str) -> Request<Bytes> {
    request(Method::GET, rest, Bytes::new())
}

fn request(method: Method, rest: &str, body: Bytes) -> Request<Bytes> {
    let path = format!("/api/v1/namespaces/shop/configmaps{rest}");
    Request::builder()
        .method(method)
        .uri(path)
        .body(body)
        .unwrap()
}
