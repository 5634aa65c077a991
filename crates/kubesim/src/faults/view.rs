//! One client's connection to a cluster, with everything that can go wrong on it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Response};
use tokio::sync::watch;

use super::log::RequestLog;
use super::plan::{End, Fate, Fault, Moment, Plan, Which};
use super::refusal;
use super::settings::{Cut, Deed, Horizon, Order, Settings, Stale};
use super::{Call, Sight};
use crate::access::User;
use crate::body::Body;
use crate::store::{Expired, ResourceId, Revision, Store};

/// The connection broke and the client has no answer; whether the server did what it was asked
/// to do is for the client to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection to the cluster broke before the answer")]
pub struct Lost;

/// Whatever answers requests once they have got through.
pub trait Backend: std::fmt::Debug + Send + Sync + 'static {
    /// Where the objects are.
    fn store(&self) -> &Store;

    /// Answers a request of a client that sees the cluster through `sight`.
    fn handle(&self, sight: &Sight, request: Request<Bytes>) -> Response<Body>;

    /// The same, for an answer that others are to be asked for first.
    fn patient<'a>(
        &'a self,
        sight: &'a Sight,
        request: Request<Bytes>,
    ) -> BoxFuture<'a, Response<Body>> {
        std::future::ready(self.handle(sight, request)).boxed()
    }
}

/// One client's connection to a cluster. It works until it is told otherwise; other views of
/// the same cluster are not touched by what happens to this one. Clones share it.
#[derive(Debug, Clone)]
pub struct View(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    user: String,
    /// Who the client is; nothing when every request says so itself.
    identity: Option<User>,
    backend: Arc<dyn Backend>,
    sight: Sight,
    settings: watch::Sender<Settings>,
    plan: Mutex<Plan>,
    dead: watch::Sender<bool>,
    log: Mutex<RequestLog>,
}

impl View {
    /// A view in good order for the client that errors call `user` and that may do everything.
    pub fn new(backend: Arc<dyn Backend>, user: &str) -> Self {
        Self::of_user(backend, User::admin(user))
    }

    /// A view in good order for a client with the rights of `user`.
    pub fn of_user(backend: Arc<dyn Backend>, user: User) -> Self {
        Self::make(backend, &user.name.clone(), Some(user))
    }

    /// A view in good order for clients of which each says who it is.
    pub fn of_anybody(backend: Arc<dyn Backend>) -> Self {
        Self::make(backend, "anybody", None)
    }

    fn make(backend: Arc<dyn Backend>, user: &str, identity: Option<User>) -> Self {
        let settings = watch::Sender::<Settings>::default();
        let sight = Sight::new(backend.store().clone(), settings.subscribe());
        Self(Arc::new(Inner {
            user: user.to_owned(),
            identity,
            backend,
            sight,
            settings,
            plan: Mutex::default(),
            dead: watch::Sender::new(false),
            log: Mutex::default(),
        }))
    }

    /// Answers a request, if the connection holds.
    pub async fn handle(&self, request: Request<Bytes>) -> Result<Response<Body>, Lost> {
        let call = Call::read(&request);
        let fate = self.fate(call.as_ref());
        if !fate.delay.is_zero() {
            tokio::time::sleep(fate.delay).await;
        }
        let answer = self.meet(fate.end, call.as_ref(), request).await;
        let code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
        lock(&self.0.log).add(call, code);
        answer
    }

    fn fate(&self, call: Option<&Call>) -> Fate {
        let mut plan = lock(&self.0.plan);
        let was_dead = plan.is_dead();
        let fate = plan.fate(call);
        if plan.is_dead() && !was_dead {
            self.cut_watches(None, Cut::Reset);
            self.0.dead.send_replace(true);
        }
        fate
    }

    async fn meet(
        &self,
        end: End,
        call: Option<&Call>,
        mut request: Request<Bytes>,
    ) -> Result<Response<Body>, Lost> {
        if let Some(identity) = &self.0.identity {
            request.extensions_mut().insert(identity.clone());
        }
        let perform = || self.0.backend.patient(&self.0.sight, request);
        match (end, call) {
            (End::Answered | End::AnsweredThenDead, _) | (End::Forbidden, None) => {
                Ok(perform().await)
            }
            (End::Refused(refusal), _) => Ok(refusal::refused(refusal)),
            (End::Forbidden, Some(call)) => Ok(refusal::forbidden(&self.0.user, call)),
            (End::NotDelivered, _) => Err(Lost),
            (End::ReplyLost, _) => {
                drop(perform().await);
                Err(Lost)
            }
            (End::DoneButRefused(refusal), _) => {
                drop(perform().await);
                Ok(refusal::refused(refusal))
            }
        }
    }
}

/// What the client sees.
impl View {
    /// Shows nothing newer than what there is now.
    pub fn freeze(&self, stale: Stale) {
        // The present never expires.
        let _ = self.freeze_at(Revision::MAX, stale);
    }

    /// Shows the cluster as it was at `revision`, as a replica that hangs would.
    pub fn freeze_at(&self, revision: Revision, stale: Stale) -> Result<(), Expired> {
        let pinned = self.0.backend.store().pin(revision)?;
        self.show(Horizon::Frozen(Arc::new(pinned)), stale);
        Ok(())
    }

    /// Shows the cluster without its latest `events` events.
    pub fn lag(&self, events: u64, stale: Stale) {
        self.show(Horizon::Behind(events), stale);
    }

    /// Shows everything again.
    pub fn catch_up(&self) {
        self.show(Horizon::Live, Stale::default());
    }

    fn show(&self, horizon: Horizon, stale: Stale) {
        self.0
            .settings
            .send_modify(|settings| (settings.horizon, settings.stale) = (horizon, stale));
    }
}

/// What the client's watches tell.
impl View {
    /// Tells nothing until [`View::release_events`], and then only what differs: one change for
    /// each object, whatever happened to it meanwhile.
    pub fn hold_events(&self) {
        self.0.settings.send_modify(|settings| settings.hold = true);
    }

    /// Tells again what happens.
    pub fn release_events(&self) {
        self.0
            .settings
            .send_modify(|settings| settings.hold = false);
    }

    /// Tells of every event this much later than it happens.
    pub fn delay_events(&self, delay: Duration) {
        self.0
            .settings
            .send_modify(|settings| settings.delay = delay);
    }

    /// Keeps silent, in every watch that runs now, about the next `events` events of `resource`,
    /// or of its resource whatever that is.
    pub fn drop_events(&self, resource: Option<&ResourceId>, events: usize) {
        self.order(resource, Deed::Drop(events));
    }

    /// Ends every watch of `resource` that runs now, or all of them.
    pub fn cut_watches(&self, resource: Option<&ResourceId>, cut: Cut) {
        self.order(resource, Deed::Cut(cut));
    }

    fn order(&self, resource: Option<&ResourceId>, deed: Deed) {
        let order = Order {
            resource: resource.cloned(),
            deed,
        };
        self.0
            .settings
            .send_modify(|settings| settings.orders.push(order));
    }
}

/// What becomes of the client's requests.
impl View {
    /// Lets `fault` happen to all of these requests.
    pub fn fault(&self, which: Which, fault: Fault) {
        lock(&self.0.plan).add(which, fault, None);
    }

    /// Lets `fault` happen to the next `times` of these requests.
    pub fn fault_times(&self, which: Which, fault: Fault, times: u64) {
        lock(&self.0.plan).add(which, fault, Some(times));
    }

    /// Lets the client die at its `write`-th write from now, counted from 1: its watches break
    /// and, after that moment, none of its requests gets through until [`View::heal`].
    pub fn crash_at(&self, write: u64, moment: Moment) {
        lock(&self.0.plan).crash_at(write, moment);
    }

    /// Waits until the client has died, so that whoever runs it can end it.
    pub async fn crashed(&self) {
        let mut dead = self.0.dead.subscribe();
        // The sender lives as long as `self`.
        let _ = dead.wait_for(|dead| *dead).await;
    }

    /// Ends every fault: requests get through, watches tell everything.
    pub fn heal(&self) {
        *lock(&self.0.plan) = Plan::default();
        self.0.dead.send_replace(false);
        self.0.settings.send_modify(|settings| {
            let orders = std::mem::take(&mut settings.orders);
            *settings = Settings {
                orders,
                ..Settings::default()
            };
        });
    }
}

/// What the client asked for.
impl View {
    /// The requests since the log was last reset.
    pub fn log(&self) -> RequestLog {
        lock(&self.0.log).clone()
    }

    /// Forgets the requests so far, and tells them.
    pub fn reset_log(&self) -> RequestLog {
        std::mem::take(&mut lock(&self.0.log))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
