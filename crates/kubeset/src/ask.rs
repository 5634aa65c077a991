//! How a request is made: sent, read, and sent again while the server is busy.

use std::time::Duration;

use evenkeel_reconcile::retry;
use http::header::{ACCEPT, RETRY_AFTER};
use http::{HeaderMap, Request};
use kube::client::Body;
use kube::core::request;
use serde::de::DeserializeOwned;

use crate::calls::Calls;
use crate::error::Error;

/// A request, unless it cannot be put into words.
pub(crate) type Made = Result<Request<Vec<u8>>, request::Error>;

impl Calls {
    /// Makes a request until there is an answer, or no hope for one.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        attempt: &str,
        make: impl Fn() -> Made,
    ) -> Result<T, Error> {
        let once = || async {
            let request = make().map_err(kube::Error::BuildRequest);
            let request = request.map_err(|error| Error::of_call(attempt, error))?;
            self.ask_once(attempt, request).await
        };
        retry(&self.retry, &*self.dice, once).await
    }

    /// Unlike the client's own, this hears how long the server asks to be left alone: the gate of
    /// a busy server says so in a header and nowhere else.
    async fn ask_once<T: DeserializeOwned>(
        &self,
        attempt: &str,
        request: Request<Vec<u8>>,
    ) -> Result<T, Error> {
        let fail = |error| Error::of_call(attempt, error);
        let answer = self.client.send(request.map(Body::from)).await;
        let answer = answer.map_err(fail)?;
        let (code, pause) = (answer.status(), pause(answer.headers()));
        let body = answer.into_body().collect_bytes().await.map_err(fail)?;
        if !code.is_success() {
            return Err(Error::refused(attempt, code.as_u16(), &body, pause));
        }
        let read = serde_json::from_slice(&body);
        read.map_err(|error| fail(kube::Error::SerdeError(error)))
    }
}

fn pause(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds)).filter(|pause| !pause.is_zero())
}

/// A plain GET, in this form if the server knows it.
pub(crate) fn get(path: &str, accept: &str) -> Made {
    let request = Request::get(path).header(ACCEPT, accept);
    request
        .body(Vec::new())
        .map_err(request::Error::BuildRequest)
}
