//! Held polls: a poll that waits keeps nothing but its socket.
//!
//! Thousands of agents wait most of the time, and an HTTP connection in the middle of a request is
//! large: buffers to read and to write, the parser, every layer of the router. So a poll that
//! would wait is put aside instead: the connection is taken apart, and what is left is the socket,
//! the few lines of the request, and what the poll waits for. When that happens, the request is
//! read once more by a new connection on the same socket, as if it had only just come, and is
//! answered like any other. HTTP/2 has many requests on one connection; there polls wait in place.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, Method, Request, Version, header};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::fleet::{TargetState, WaitingPoll};

/// What a poll waits for.
pub(crate) struct Wait {
    /// What the agent is served.
    pub(crate) states: watch::Receiver<Arc<TargetState>>,
    /// The versions that it has.
    pub(crate) known: Vec<String>,
    /// Not longer than this.
    pub(crate) until: Instant,
    /// Counts it among those that wait.
    pub(crate) _counted: WaitingPoll,
}

impl Wait {
    /// Returns when there is something else to serve, the time is over, or the broker stops.
    pub(crate) async fn over(&mut self, stopping: &CancellationToken) {
        let known = &self.known;
        tokio::select! {
            _ = self.states.wait_for(|state| !known.contains(&state.version)) => {}
            () = sleep_until(self.until) => {}
            () = stopping.cancelled() => {}
        }
    }
}

/// A poll that was put aside.
pub(super) struct Held {
    pub(super) head: Vec<u8>,
    pub(super) wait: Wait,
}

/// What a connection remembers while it is taken apart and put together again.
#[derive(Default)]
pub(super) struct Slot {
    held: Mutex<Option<Held>>,
    resumed: Mutex<Option<Resumed>>,
    sending: AtomicBool,
}

impl Slot {
    /// The poll to put aside, if one asked for it and nothing else is under way.
    pub(super) fn take(&self) -> Option<Held> {
        // An answer that is not yet sent would be lost with its connection.
        if self.sending.load(Ordering::Relaxed) {
            return None;
        }
        lock(&self.held).take()
    }

    /// The next request is one that was put aside.
    pub(super) fn resume(&self, until: Instant) {
        *lock(&self.resumed) = Some(Resumed(until));
    }

    /// Marks a request with what this connection knows of it.
    pub(super) fn mark<B>(self: &Arc<Self>, request: &mut Request<B>) {
        if let Some(holdable) = Holdable::of(request, self) {
            request.extensions_mut().insert(holdable);
        }
        if let Some(resumed) = lock(&self.resumed).take() {
            request.extensions_mut().insert(resumed);
        }
    }

    /// Whether something was written that has not left yet.
    pub(super) fn set_sending(&self, sending: bool) {
        self.sending.store(sending, Ordering::Relaxed);
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks a request that can be put aside.
#[derive(Clone)]
pub(crate) struct Holdable {
    slot: Arc<Slot>,
    head: Arc<Vec<u8>>,
}

impl Holdable {
    /// The mark, for a request that may want to wait.
    fn of<B>(request: &Request<B>, slot: &Arc<Slot>) -> Option<Self> {
        let waits = request
            .uri()
            .query()
            .is_some_and(|query| query.contains("wait="));
        let plain = request.method() == Method::GET && !has_body(request.headers());
        (waits && plain).then(|| Self {
            slot: Arc::clone(slot),
            head: Arc::new(head(request)),
        })
    }

    /// Puts the request aside. It goes on from its beginning when the wait is over, so this never
    /// returns.
    pub(crate) async fn hold(self, wait: Wait) -> std::convert::Infallible {
        let Self { slot, head } = self;
        let head = Arc::unwrap_or_clone(head);
        *lock(&slot.held) = Some(Held { head, wait });
        drop(slot);
        std::future::pending().await
    }
}

/// Marks a request that was put aside and goes on: until when it may wait in all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resumed(pub(crate) Instant);

fn has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(header::CONTENT_LENGTH) || headers.contains_key(header::TRANSFER_ENCODING)
}

/// The request as it was sent.
fn head<B>(request: &Request<B>) -> Vec<u8> {
    let version = match request.version() {
        Version::HTTP_10 => "1.0",
        _ => "1.1",
    };
    let mut head =
        format!("{} {} HTTP/{version}\r\n", request.method(), request.uri()).into_bytes();
    for (name, value) in request.headers() {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(uri: &str) -> http::request::Builder {
        Request::get(uri).header("authorization", "Bearer x")
    }

    #[test]
    fn only_a_plain_get_that_may_wait_can_be_put_aside() {
        let slot = Arc::default();
        let of = |request: Request<()>| Holdable::of(&request, &slot).is_some();
        assert!(of(request("/a?wait=30s").body(()).unwrap()));
        assert!(!of(request("/a").body(()).unwrap()));
        assert!(!of(request("/a?wait=1s").method("POST").body(()).unwrap()));
        let with_body = request("/a?wait=1s").header("content-length", "2");
        assert!(!of(with_body.body(()).unwrap()));
    }

    #[test]
    fn a_request_is_written_as_it_was_read() {
        let request = request("/a?wait=30s&bodies=false").body(()).unwrap();
        let text = "GET /a?wait=30s&bodies=false HTTP/1.1\r\nauthorization: Bearer x\r\n\r\n";
        assert_eq!(head(&request), text.as_bytes());
    }
}
