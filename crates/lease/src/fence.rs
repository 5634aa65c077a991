//! A client that falls silent when its term ends.

use http::Request;
use kube::Client;
use kube::client::Body;
use tower::BoxError;

use crate::term::Term;

/// A request was refused because the lease is no longer held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the lease is no longer held, so nothing is asked of the cluster")]
pub struct NotHeld;

/// `client`, for as long as `term` lasts: later requests are refused, and those that are under way
/// are given up.
pub fn fence(client: &Client, term: &Term) -> Client {
    let (inner, term) = (client.clone(), term.clone());
    let guarded = tower::service_fn(move |request: Request<Body>| {
        let (inner, term) = (inner.clone(), term.clone());
        async move {
            if !term.is_held() {
                return Err(BoxError::from(NotHeld));
            }
            tokio::select! {
                biased;
                () = term.ended() => Err(NotHeld.into()),
                answer = inner.send(request) => answer.map_err(Into::into),
            }
        }
    });
    Client::new(guarded, client.default_namespace())
}
