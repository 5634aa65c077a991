//! The children of custom resources: kubeset for a controller.
//!
//! An operator turns each of its objects into others. [`Children`] holds one [`Set`] for each parent,
//! all on one set of watches; it begins when the process leads, falls silent when it no longer does,
//! and wakes a parent when somebody else touches what it owns, at the latest when a survey every
//! six hours finds it out.
//!
//! ```text
//! Controller ─ meanwhile ─▶ Children::lead ─▶ kubeset::Cluster (fenced) ─ touched ─▶ wake the parent
//!            ─ reconcile ─▶ Children::of(parent) ─▶ Set::converge
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evenkeel_controller::{Key, Leading, Watched};
use evenkeel_kubeset::{Cluster, Parent, Set, Settings, Touched};
use evenkeel_reconcile::RetryPolicy;
use evenkeel_reconcile::runner::Request;
use tokio::sync::watch;

/// How often all children are listed although nobody was heard to touch any.
const SURVEY: RetryPolicy = RetryPolicy::every(Duration::from_secs(6 * 3_600));

/// The children of all objects of one kind.
#[derive(Debug)]
pub struct Children {
    settings: Settings,
    cluster: watch::Sender<Option<Cluster>>,
    parents: Mutex<BTreeMap<String, Kept>>,
}

/// What is kept for one parent, by its uid, from pass to pass.
#[derive(Debug)]
struct Kept {
    key: Key,
    set: Arc<Set>,
}

impl Children {
    /// Children as `settings` say; their kinds must be listed there.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Self> {
        let survey = Some(SURVEY);
        Arc::new(Self {
            settings: Settings { survey, ..settings },
            cluster: watch::Sender::new(None),
            parents: Mutex::default(),
        })
    }

    /// Serves the children for as long as the process leads: give it to
    /// [`Controller::meanwhile`](evenkeel_controller::Controller::meanwhile).
    pub async fn lead<K: Watched>(self: Arc<Self>, leading: Leading<K>) {
        let cluster = Cluster::new(
            leading.client().clone(),
            self.settings.clone(),
            leading.clock().clone(),
            leading.dice().clone(),
        );
        let touched = cluster.touched();
        self.cluster.send_replace(Some(cluster));
        tokio::select! {
            () = self.wake_parents(touched, &leading) => {}
            () = leading.stop().cancelled() => {}
        }
    }

    async fn wake_parents<K: Watched>(&self, mut touched: Touched, leading: &Leading<K>) {
        loop {
            let uids = touched.next().await;
            let concerned = self.keys_of(&uids);
            for key in concerned {
                leading.wake(key, Request::owned());
            }
        }
    }

    fn keys_of(&self, uids: &BTreeSet<Arc<str>>) -> Vec<Key> {
        let parents = self.parents();
        let known = uids.iter().filter_map(|uid| parents.get(&**uid));
        known.map(|kept| kept.key.clone()).collect()
    }

    /// The children of `parent`; nothing if the server has not given it a uid. Waits until the
    /// process leads.
    pub async fn of<K: Watched>(&self, parent: &K) -> Option<Arc<Set>> {
        let (key, parent) = (Key::of(parent), Parent::of(parent)?);
        let mut cluster = self.cluster.subscribe();
        let cluster = cluster.wait_for(Option::is_some).await.ok()?.clone()?;
        let mut parents = self.parents();
        let kept = parents
            .entry(parent.uid().to_owned())
            .or_insert_with(|| Kept {
                key,
                set: Arc::new(cluster.children(parent)),
            });
        Some(Arc::clone(&kept.set))
    }

    /// Forgets a parent that is gone.
    pub fn forget(&self, key: &Key) {
        self.parents().retain(|_, kept| kept.key != *key);
    }

    fn parents(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.parents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
