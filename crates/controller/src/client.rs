//! The clients that controllers use.

use std::sync::Arc;

use evenkeel_lease::{Term, fence};
use http::{Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use kube::{Client, Config};
use tower::BoxError;

use crate::key::Key;
use crate::writes::{Target, Writes};

/// A client that sends every request once. The usual one repeats what was answered with 429, 503 or
/// 504, creates included, although the first may have been done; a run that failed is repeated by
/// its controller, which looks first.
pub fn connect(mut config: Config) -> kube::Result<Client> {
    config.default_retry = false;
    Client::try_from(config)
}

/// `client` for one run: silent after `term`, and with every write noted under `run`.
pub(crate) fn for_run(client: &Client, term: &Term, writes: &Arc<Writes>, run: &Key) -> Client {
    let fenced = fence(client, term);
    let (writes, run) = (Arc::clone(writes), run.clone());
    let noting = tower::service_fn(move |request: Request<Body>| {
        let (inner, writes, run) = (fenced.clone(), Arc::clone(&writes), run.clone());
        async move {
            let target = Target::of(&request);
            let answer = inner.send(request).await?;
            match target {
                Some(target) => noted(answer, target, &writes, &run).await,
                None => Ok(answer),
            }
        }
    });
    Client::new(noting, client.default_namespace())
}

async fn noted(
    answer: Response<Body>,
    target: Target,
    writes: &Writes,
    run: &Key,
) -> Result<Response<Body>, BoxError> {
    let (head, body) = answer.into_parts();
    let body = body.collect().await?.to_bytes();
    let head = Response::from_parts(head, ());
    if let Some(written) = target.written(&head, &body) {
        writes.note(run, written);
    }
    Ok(head.map(|()| Body::from(body.to_vec())))
}
