//! The children of custom resources: kubeset for a controller.
//!
//! An operator turns each of its objects into others. [`Children`] holds one [`Set`] for each parent,
//! all on one set of watches; it begins when the process leads, falls silent when it no longer does,
//! and wakes a parent when somebody else touches what it owns.
//!
//! ```text
//! Controller ─ meanwhile ─▶ Children::lead ─▶ kubeset::Cluster (fenced) ─ touched ─▶ wake the parent
//!            ─ reconcile ─▶ Children::of(parent) ─▶ Set::converge
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_controller::{Key, Leading, Watched};
use evenkeel_kubeset::{Cluster, Parent, Set, Settings, Touched};
use evenkeel_reconcile::runner::Request;
use tokio::sync::watch;

/// The children of all objects of one kind.
#[derive(Debug)]
pub struct Children {
    settings: Settings,
    cluster: watch::Sender<Option<Cluster>>,
    parents: Mutex<BTreeMap<Key, Kept>>,
}

/// What is kept for one parent, from pass to pass.
#[derive(Debug)]
struct Kept {
    uid: String,
    set: Arc<Set>,
}

impl Children {
    /// Children as `settings` say; their kinds must be listed there.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Self> {
        Arc::new(Self {
            settings,
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
            let concerned: Vec<_> = self
                .parents()
                .iter()
                .filter(|(_, kept)| uids.contains(kept.uid.as_str()))
                .map(|(key, _)| key.clone())
                .collect();
            for key in concerned {
                leading.wake(key, Request::owned());
            }
        }
    }

    /// The children of `parent`; nothing if the server has not given it a uid. Waits until the
    /// process leads.
    pub async fn of<K: Watched>(&self, parent: &K) -> Option<Arc<Set>> {
        let (key, parent) = (Key::of(parent), Parent::of(parent)?);
        let mut cluster = self.cluster.subscribe();
        let cluster = cluster.wait_for(Option::is_some).await.ok()?.clone()?;
        let mut parents = self.parents();
        // A namesake with another uid is another parent.
        if let Some(kept) = parents.get(&key).filter(|kept| kept.uid == parent.uid()) {
            return Some(Arc::clone(&kept.set));
        }
        let uid = parent.uid().to_owned();
        let set = Arc::new(cluster.children(parent));
        let kept = Kept {
            uid,
            set: Arc::clone(&set),
        };
        parents.insert(key, kept);
        Some(set)
    }

    /// Forgets a parent that is gone.
    pub fn forget(&self, key: &Key) {
        self.parents().remove(key);
    }

    fn parents(&self) -> MutexGuard<'_, BTreeMap<Key, Kept>> {
        self.parents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
