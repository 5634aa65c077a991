//! Who is told when somebody else changes an object.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Notify, watch};

/// How often something happened to the objects of one set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rings {
    /// Somebody else changed or removed something of ours.
    pub touched: u64,
    /// Anything at all happened, a change of status included.
    pub stirred: u64,
}

/// One bell for each set that listens, and those that hear all of them.
#[derive(Debug, Default)]
pub(crate) struct Bells {
    sets: Mutex<BTreeMap<Arc<str>, watch::Sender<Rings>>>,
    everyone: Mutex<Vec<Weak<Heard>>>,
}

impl Bells {
    /// Counts what happens to the objects of `mark`.
    pub(crate) fn bell(&self, mark: &str) -> watch::Receiver<Rings> {
        let mut sets = lock(&self.sets);
        if let Some(bell) = sets.get(mark) {
            return bell.subscribe();
        }
        let bell = watch::Sender::default();
        let receiver = bell.subscribe();
        sets.insert(mark.into(), bell);
        receiver
    }

    /// Takes down the bell of a set that is no more.
    pub(crate) fn leave(&self, mark: &str) {
        let mut sets = lock(&self.sets);
        // Whoever leaves holds a receiver to the last.
        if sets
            .get(mark)
            .is_some_and(|bell| bell.receiver_count() <= 1)
        {
            sets.remove(mark);
        }
    }

    /// Hears of all sets.
    pub(crate) fn everything(&self) -> Touched {
        let heard = Arc::new(Heard::default());
        let mut everyone = lock(&self.everyone);
        everyone.retain(|listener| listener.strong_count() > 0);
        everyone.push(Arc::downgrade(&heard));
        Touched(heard)
    }

    /// Says that something happened to an object with these marks, and whether it is one that
    /// somebody else `touched`.
    pub(crate) fn ring<'m>(&self, marks: impl IntoIterator<Item = &'m Arc<str>>, touched: bool) {
        for mark in marks {
            if let Some(bell) = lock(&self.sets).get(mark) {
                bell.send_modify(|rung| {
                    rung.stirred += 1;
                    rung.touched += u64::from(touched);
                });
            }
            if touched {
                self.tell_everyone(mark);
            }
        }
    }

    fn tell_everyone(&self, mark: &Arc<str>) {
        for listener in lock(&self.everyone).iter().filter_map(Weak::upgrade) {
            lock(&listener.marks).insert(mark.clone());
            listener.bell.notify_one();
        }
    }
}

#[derive(Debug, Default)]
struct Heard {
    marks: Mutex<BTreeSet<Arc<str>>>,
    bell: Notify,
}

/// Whose objects somebody else changed, for all sets of a cluster.
#[derive(Debug)]
pub struct Touched(Arc<Heard>);

impl Touched {
    /// Waits, and then says whose objects were changed since the last time: names of owners and
    /// uids of parents. However often it happened, each is said once.
    pub async fn next(&mut self) -> BTreeSet<Arc<str>> {
        loop {
            let marks = mem::take(&mut *lock(&self.0.marks));
            if !marks.is_empty() {
                return marks;
            }
            self.0.bell.notified().await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
