//! Whose turn it is to restart pods when the operator is told something else about all agents.
//!
//! Another image or another address for telemetry concerns every agent at once. Only so many are
//! restarted at a time, and one that does not get ready keeps its turn: what is bad for all stops
//! after a few.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_controller::{Key, Leading};
use evenkeel_reconcile::runner::Request;
use tokio::sync::Notify;

use crate::api::Agent;

/// Who restarts pods at present, and who waits for a turn.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: NonZeroUsize,
    queue: Mutex<Queue>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    rolling: BTreeSet<Key>,
    waiting: BTreeSet<Key>,
}

impl Turns {
    pub(super) fn new(at_once: NonZeroUsize) -> Arc<Self> {
        Arc::new(Self {
            at_once,
            queue: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// Whether it is the turn of `key`. If not, it is woken when it may be.
    pub(super) fn take(&self, key: &Key) -> bool {
        let mut queue = self.queue();
        if queue.rolling.len() < self.at_once.get() || queue.rolling.contains(key) {
            queue.waiting.remove(key);
            queue.rolling.insert(key.clone());
            return true;
        }
        queue.waiting.insert(key.clone());
        false
    }

    /// Ends the turn of one that is ready, or gone.
    pub(super) fn give_back(&self, key: &Key) {
        let mut queue = self.queue();
        queue.waiting.remove(key);
        if queue.rolling.remove(key) {
            self.freed.notify_one();
        }
    }

    /// Wakes those whose turn comes, for as long as the process leads.
    pub(super) async fn call(self: Arc<Self>, leading: Leading<Agent>) {
        loop {
            tokio::select! {
                () = self.freed.notified() => {}
                () = leading.stop().cancelled() => return,
            }
            for key in self.next() {
                leading.wake(key, Request::related());
            }
        }
    }

    fn next(&self) -> Vec<Key> {
        let queue = self.queue();
        let free = self.at_once.get().saturating_sub(queue.rolling.len());
        queue.waiting.iter().take(free).cloned().collect()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_kept_until_it_is_given_back() {
        let turns = Turns::new(NonZeroUsize::MIN);
        let [a, b, c] = ["a", "b", "c"].map(|name| Key::namespaced("n", name));
        assert!(turns.take(&a) && turns.take(&a));
        assert!(!turns.take(&b) && !turns.take(&c));
        assert!(turns.next().is_empty(), "nobody is called in vain");
        turns.give_back(&b);
        assert!(!turns.take(&c));
        turns.give_back(&a);
        assert_eq!(turns.next(), std::slice::from_ref(&c));
        assert!(turns.take(&c) && !turns.take(&a));
    }
}
