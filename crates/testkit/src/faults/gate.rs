//! A gate before any HTTP service: counts what changes it, and lets the caller die.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use evenkeel_kubesim::faults::{Lost, Moment};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use tokio::sync::watch;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt};

use super::world::World;

/// A gate before an HTTP service. Whatever is not a GET or HEAD counts as a write. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    dead: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    written: Vec<String>,
    crash: Option<(u64, Moment)>,
    lose_replies: u64,
    dead: bool,
}

/// What becomes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    NotDelivered,
    ReplyLost,
}

impl Gate {
    /// `service` behind this gate.
    pub fn before<S>(
        &self,
        service: S,
    ) -> BoxCloneSyncService<Request<Bytes>, Response<Bytes>, BoxError>
    where
        S: Service<Request<Bytes>, Response = Response<Bytes>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        let gate = self.clone();
        BoxCloneSyncService::new(tower::service_fn(move |call: Request<Bytes>| {
            let (gate, service) = (gate.clone(), service.clone());
            async move {
                match gate.fate(&call) {
                    Fate::NotDelivered => Err(Lost.into()),
                    Fate::Answered => service.oneshot(call).await.map_err(Into::into),
                    Fate::ReplyLost => {
                        drop(service.oneshot(call).await);
                        Err(Lost.into())
                    }
                }
            }
        }))
    }

    /// Loses the replies to the next `times` writes, which are done all the same.
    pub fn lose_replies(&self, times: u64) {
        self.lock().lose_replies = times;
    }

    fn fate(&self, call: &Request<Bytes>) -> Fate {
        let mut state = self.lock();
        let is_write = !matches!(*call.method(), Method::GET | Method::HEAD);
        match (state.dead, is_write) {
            (true, _) => return Fate::NotDelivered,
            (false, false) => return Fate::Answered,
            (false, true) => state
                .written
                .push(format!("{} {}", call.method(), call.uri())),
        }
        if let Some(moment) = state.count_down() {
            state.dead = true;
            self.0.dead.send_replace(true);
            return match moment {
                Moment::BeforeCommit => Fate::NotDelivered,
                Moment::BeforeReply => Fate::ReplyLost,
                Moment::AfterReply => Fate::Answered,
            };
        }
        match state.lose_replies {
            0 => Fate::Answered,
            _ => {
                state.lose_replies -= 1;
                Fate::ReplyLost
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count_down(&mut self) -> Option<Moment> {
        let (left, moment) = self.crash.as_mut()?;
        *left = left.saturating_sub(1);
        (*left == 0).then_some(*moment)
    }
}

impl World for Gate {
    fn name(&self) -> &'static str {
        "the HTTP service"
    }

    fn writes(&self) -> u64 {
        self.lock().written.len() as u64
    }

    fn written(&self) -> Vec<String> {
        self.lock().written.clone()
    }

    fn reset(&self) {
        self.lock().written.clear();
    }

    fn crash_at(&self, write: u64, moment: Moment) {
        self.lock().crash = Some((write, moment));
    }

    fn crashed(&self) -> BoxFuture<'_, ()> {
        let mut dead = self.0.dead.subscribe();
        async move {
            // The sender lives as long as `self`.
            let _ = dead.wait_for(|dead| *dead).await;
        }
        .boxed()
    }

    fn heal(&self) {
        let mut state = self.lock();
        (state.crash, state.lose_replies, state.dead) = (None, 0, false);
        self.0.dead.send_replace(false);
    }
}
