//! Clients of the simulator.

use std::convert::Infallible;

use evenkeel_kubesim::Cluster;
use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use tower::service_fn;

/// A client of `cluster` with all rights.
pub(crate) fn client(cluster: &Cluster) -> Client {
    let cluster = cluster.clone();
    let service = service_fn(move |request: Request<Body>| {
        let cluster = cluster.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body
                .collect()
                .await
                .map(|body| body.to_bytes())
                .unwrap_or_default();
            Ok::<_, Infallible>(cluster.handle(Request::from_parts(head, body)))
        }
    });
    Client::new(service, "default")
}
