//! The cluster as the agent reaches it: counted, not flooded, and silent once the lease is lost.

use std::sync::Arc;

use evenkeel_lease::{Term, fence};
use evenkeel_vitals::Requests;
use evenkeel_vitals::requests::Verb;
use http::Request;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{ObjectMeta, PostParams};
use kube::client::Body;
use kube::{Api, Client};
use tokio::sync::Semaphore;
use tower::BoxError;

/// `client`, for as long as `term` lasts.
pub(crate) fn of_term(client: &Client, at_once: usize, requests: &Requests, term: &Term) -> Client {
    limited(&requests.counted(&fence(client, term)), at_once)
}

/// `client` with a bounded number of requests under way. Watches do not count, and one that waits
/// to be repeated does not either.
fn limited(client: &Client, at_once: usize) -> Client {
    let (inner, room) = (client.clone(), Arc::new(Semaphore::new(at_once.max(1))));
    let send = tower::service_fn(move |request: Request<Body>| {
        let (inner, room) = (inner.clone(), room.clone());
        async move {
            let _place = match Verb::of(&request) {
                Verb::Watch => None,
                _ => Some(room.acquire_owned().await?),
            };
            inner.send(request).await.map_err(BoxError::from)
        }
    });
    Client::new(send, client.default_namespace())
}

/// Makes sure that the agent's own namespace exists.
pub(crate) async fn settle(client: &Client, namespace: &str) -> kube::Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    match namespaces.get_opt(namespace).await {
        Ok(Some(_)) => return Ok(()),
        Ok(None) => {}
        // Who may not look at namespaces runs in one that exists.
        Err(kube::Error::Api(status)) if status.code == 403 => return Ok(()),
        Err(error) => return Err(error),
    }
    let new = Namespace {
        metadata: ObjectMeta {
            name: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    match namespaces.create(&PostParams::default(), &new).await {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        made => made.map(drop),
    }
}
