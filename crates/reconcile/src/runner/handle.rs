//! The queue, shared between the runner and everybody who asks for runs.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::item::{Item, Load};
use super::moment::Moment;
use super::queue::{Key, Queue};
use super::request::Request;

/// Asks for runs and looks into the queue. Clones share one queue.
pub struct Handle<K> {
    shared: Arc<Shared<K>>,
}

struct Shared<K> {
    queue: Mutex<Queue<K>>,
    changed: Notify,
    started: Instant,
}

impl<K: Key> Handle<K> {
    pub(super) fn new(queue: Queue<K>) -> Self {
        let (queue, changed) = (Mutex::new(queue), Notify::new());
        Self {
            shared: Arc::new(Shared {
                queue,
                changed,
                started: Instant::now(),
            }),
        }
    }

    /// Asks for a run of `key`. Never blocks for long, never runs anything itself.
    pub fn add(&self, key: K, request: Request) {
        self.queue().add(key, request, self.now());
        self.shared.changed.notify_one();
    }

    /// Drops all that is known about a key whose subject is gone, so that no resync looks for
    /// it. May be called from inside the key's own run.
    pub fn forget(&self, key: &K) {
        self.queue().forget(key);
    }

    /// Where one key is, and why it waits.
    pub fn find(&self, key: &K) -> Option<Item<K>> {
        self.queue().find(key, self.now())
    }

    /// The same for every key; a copy, so meant for people and not for loops.
    pub fn list(&self) -> Vec<Item<K>> {
        self.queue().list(self.now())
    }

    /// How much there is to do.
    pub fn load(&self) -> Load {
        self.queue().load(self.now())
    }

    pub(super) fn queue(&self) -> MutexGuard<'_, Queue<K>> {
        self.shared
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Moment {
        Moment::after(self.shared.started.elapsed())
    }

    /// The moment on tokio's clock.
    pub(super) fn instant(&self, moment: Moment) -> Instant {
        self.shared.started + moment.since(Moment::START)
    }

    /// Returns after the next `add`, or at once if there was one since the last call.
    pub(super) async fn changed(&self) {
        self.shared.changed.notified().await;
    }
}

impl<K> Clone for Handle<K> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<K> fmt::Debug for Handle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
