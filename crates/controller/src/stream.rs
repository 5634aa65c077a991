//! Keeping a store up to date: list, watch from there, and again from wherever it broke off.
//!
//! ```text
//! list in pages ──▶ watch ──▶ ended or broken: watch on from there
//!       ▲             └─────▶ 410 (as status or in the stream), refused, asked to, after six hours: list again
//! ```
//!
//! Each stream has its own backoff, so that one kind that cannot be watched slows no other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use evenkeel_ambient::SharedRandom;
use evenkeel_reconcile::RetryPolicy;
use futures::{StreamExt, TryStreamExt};
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::{Api, Client};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};
use tracing::warn;

use crate::error::why;
use crate::key::{Key, ResourceId, Revision};
use crate::store::{Backwards, Change, Store};
use crate::watched::Watched;

/// How many objects one page of a list holds.
const PAGE: u32 = 500;

/// How long one watch lasts, in seconds; after a little more silence it is taken for dead.
const WATCH_SECONDS: u32 = 290;

/// How often everything is listed although the watch could go on: an event that got lost on the
/// way, in a proxy or a bug, is made up for by then.
const SURVEY: RetryPolicy = RetryPolicy::every(Duration::from_secs(6 * 3_600));

/// For how long a server that is behind what we saw is not believed. After that it is taken for
/// one whose data was restored from a backup.
const DISBELIEF: Duration = Duration::from_secs(300);

/// A watch that lasted this long was in order, however it ended.
const IN_ORDER: Duration = Duration::from_secs(10);

/// A watch that breaks off now and then is in order; this often in a row is not.
const WORTH_TELLING: u32 = 3;

const BACKOFF: RetryPolicy = RetryPolicy {
    first: Duration::from_millis(500),
    jitter: 0.5,
    ..RetryPolicy::doubling(Duration::from_millis(500), Duration::from_secs(30))
};

/// How well the objects of a kind are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamState {
    /// Whether all of them were listed at least once.
    pub synced: bool,
    /// Why they cannot be listed or watched at present.
    pub failing: Option<String>,
    /// How often following it failed.
    pub failures: u64,
}

impl StreamState {
    /// What is wrong, if anything.
    pub(crate) fn trouble(&self) -> Option<String> {
        let unlisted = || (!self.synced).then(|| "not listed yet".to_owned());
        self.failing.clone().or_else(unlisted)
    }

    /// Whether it is known what can be known for now.
    pub(crate) fn is_settled(&self) -> bool {
        self.synced || self.failing.is_some()
    }
}

pub(crate) type Listener<T> = Arc<dyn Fn(&Change<T>) + Send + Sync>;

/// The objects of one kind, kept up to date while [`Stream::follow`] runs.
pub(crate) struct Stream<T> {
    pub(crate) resource: ResourceId,
    api: Api<T>,
    labels: Option<String>,
    dice: SharedRandom,
    store: RwLock<Store<T>>,
    listeners: Mutex<Vec<Listener<T>>>,
    state: watch::Sender<StreamState>,
    progress: watch::Sender<()>,
    relist: Notify,
    following: Mutex<Following>,
}

/// How it goes with following a kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Following {
    /// How often a list or a watch broke off and had to begin again.
    pub(crate) restarts: u64,
    /// When the server last said anything.
    pub(crate) heard: Option<Instant>,
}

/// Where a stream goes on.
enum Next {
    List,
    WatchFrom(String),
}

/// Why a stream could not go on.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("the server forgot the revision that we are at")]
    Expired,
    #[error("{}", why(.0))]
    Refused(kube::Error),
    #[error("the connection broke: {}", why(.0))]
    Lost(kube::Error),
    #[error("no sign of life")]
    Silent,
    #[error(transparent)]
    Backwards(#[from] Backwards),
}

impl Broken {
    fn of(error: kube::Error) -> Self {
        match &error {
            kube::Error::Api(status) if status.code == 410 => Self::Expired,
            kube::Error::Api(_) => Self::Refused(error),
            _ => Self::Lost(error),
        }
    }

    /// Whether the watch can go on where it broke off; after a refusal nobody knows what was missed.
    fn goes_on(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Silent)
    }
}

impl<T: Watched> Stream<T> {
    pub(crate) fn new(client: Client, labels: Option<String>, dice: SharedRandom) -> Self {
        Self {
            resource: ResourceId::of::<T>(),
            api: Api::all(client),
            labels,
            dice,
            store: RwLock::default(),
            listeners: Mutex::default(),
            state: watch::Sender::default(),
            progress: watch::Sender::default(),
            relist: Notify::new(),
            following: Mutex::default(),
        }
    }

    /// Which objects of the kind; empty for all.
    pub(crate) fn selector(&self) -> &str {
        self.labels.as_deref().unwrap_or_default()
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.read().get(key).cloned()
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Store<T>> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Store<T>> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state(&self) -> watch::Receiver<StreamState> {
        self.state.subscribe()
    }

    /// How it goes with following the kind.
    pub(crate) fn following(&self) -> Following {
        *self.lock_following()
    }

    fn lock_following(&self) -> MutexGuard<'_, Following> {
        self.following
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes whenever something came in.
    pub(crate) fn progress(&self) -> watch::Receiver<()> {
        self.progress.subscribe()
    }

    /// Lists everything anew, because something must have been missed.
    pub(crate) fn list_again(&self) {
        self.relist.notify_one();
    }

    /// Tells `listener` of every change to come. Called before the stream is followed.
    pub(crate) fn listen(&self, listener: Listener<T>) {
        self.listeners().push(listener);
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Listener<T>>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the store up to date for ever.
    pub(crate) async fn follow(&self) {
        let mut next = Next::List;
        let mut troubles = Troubles::default();
        let mut survey = Instant::now();
        loop {
            let begun = Instant::now();
            let went_on = match &mut next {
                Next::List => {
                    survey = begun + SURVEY.delay(1, &*self.dice);
                    self.list(&mut troubles).await
                }
                Next::WatchFrom(_) if begun >= survey => Ok(Next::List),
                Next::WatchFrom(revision) => self.watch(revision).await,
            };
            // A list alone proves nothing: the watch that follows may be refused time and again.
            if begun.elapsed() >= IN_ORDER {
                troubles.over();
            }
            let broken = match went_on {
                Ok(position) => {
                    next = position;
                    continue;
                }
                Err(broken) => broken,
            };
            self.lock_following().restarts += 1;
            if !broken.goes_on() {
                next = Next::List;
            }
            troubles.add(&broken);
            if troubles.count >= WORTH_TELLING || !matches!(next, Next::WatchFrom(_)) {
                self.fails(&broken);
            }
            sleep(BACKOFF.delay(troubles.count, &*self.dice)).await;
        }
    }

    async fn list(&self, troubles: &mut Troubles) -> Result<Next, Broken> {
        let (listed, version) = self.pages().await?;
        if troubles.server_went_back() {
            warn!(resource = %self.resource, "the server's data went back; believing it now");
            self.write().believe_anything();
        }
        let changes = self.write().replace(listed, Revision::parse(&version))?;
        troubles.backwards_since = None;
        self.tell(&changes);
        self.works(true);
        Ok(Next::WatchFrom(version))
    }

    /// Every page, or nothing: a list that was cut off tells nothing of what exists.
    async fn pages(&self) -> Result<(Vec<T>, String), Broken> {
        let mut wanted = ListParams::default().limit(PAGE);
        wanted.label_selector.clone_from(&self.labels);
        let mut all = Vec::new();
        loop {
            let page = self.api.list(&wanted).await.map_err(Broken::of)?;
            all.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => wanted.continue_token = Some(token),
                None => return Ok((all, page.metadata.resource_version.unwrap_or_default())),
            }
        }
    }

    /// Watches from `revision`, which moves along, until the server ends it in good order.
    async fn watch(&self, revision: &mut String) -> Result<Next, Broken> {
        let mut wanted = WatchParams::default().timeout(WATCH_SECONDS);
        wanted.label_selector.clone_from(&self.labels);
        let begun = Instant::now();
        let silence = Duration::from_secs(u64::from(WATCH_SECONDS) + 5);
        let events = self
            .api
            .watch(&wanted, revision)
            .await
            .map_err(Broken::of)?;
        let mut events = events.boxed();
        self.works(false);
        loop {
            let event = tokio::select! {
                () = self.relist.notified() => return Ok(Next::List),
                event = timeout(silence, events.try_next()) => event.map_err(|_| Broken::Silent)?,
            };
            match event.map_err(Broken::of)? {
                Some(event) => self.heard(event, revision)?,
                None => break,
            }
        }
        // A server that hangs up at once is not asked more often than this.
        if begun.elapsed() < Duration::from_secs(1) {
            sleep(Duration::from_millis(500)).await;
        }
        Ok(Next::WatchFrom(std::mem::take(revision)))
    }

    fn heard(&self, event: WatchEvent<T>, revision: &mut String) -> Result<(), Broken> {
        let version = |object: &T| object.meta().resource_version.clone().unwrap_or_default();
        let change = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                *revision = version(&object);
                self.write().put(object)
            }
            WatchEvent::Deleted(last) => {
                *revision = version(&last);
                self.write().take(&last)
            }
            WatchEvent::Bookmark(mark) => {
                *revision = mark.metadata.resource_version;
                self.write().reached(Revision::parse(revision));
                None
            }
            WatchEvent::Error(status) => return Err(Broken::of(kube::Error::Api(status))),
        };
        self.tell(change.as_slice());
        Ok(())
    }

    fn tell(&self, changes: &[Change<T>]) {
        let listeners = self.listeners().clone();
        for change in changes {
            listeners.iter().for_each(|listener| listener(change));
        }
        self.lock_following().heard = Some(Instant::now());
        self.progress.send_replace(());
    }

    fn works(&self, listed: bool) {
        self.state.send_if_modified(|state| {
            let before = state.clone();
            state.synced |= listed;
            state.failing = None;
            *state != before
        });
    }

    fn fails(&self, broken: &Broken) {
        warn!(resource = %self.resource, error = %broken, "cannot follow a kind");
        self.state.send_modify(|state| {
            state.failures += 1;
            state.failing = Some(broken.to_string());
        });
    }
}

/// What went wrong lately.
#[derive(Debug, Default)]
struct Troubles {
    count: u32,
    backwards_since: Option<Instant>,
}

impl Troubles {
    fn over(&mut self) {
        *self = Self::default();
    }

    fn add(&mut self, broken: &Broken) {
        self.count = self.count.saturating_add(1);
        if matches!(broken, Broken::Backwards(_)) {
            self.backwards_since.get_or_insert_with(Instant::now);
        }
    }

    fn server_went_back(&self) -> bool {
        self.backwards_since
            .is_some_and(|since| since.elapsed() >= DISBELIEF)
    }
}
