//! What one client can see of the store.

use tokio::sync::watch;

use super::feed::Feed;
use super::settings::{Freshness, Horizon, Settings, Stale};
use crate::store::{Expired, Key, Object, ResourceId, Revision, Snapshot, Store};

/// The store as one client sees it: the present, unless its view is frozen or lags. Reads go
/// through here; writes go to the store itself, which is always of the present.
#[derive(Debug, Clone)]
pub struct Sight {
    store: Store,
    settings: watch::Receiver<Settings>,
}

impl Sight {
    pub(super) fn new(store: Store, settings: watch::Receiver<Settings>) -> Self {
        Self { store, settings }
    }

    /// Sees everything as it is.
    pub fn clear(store: Store) -> Self {
        Self {
            store,
            settings: watch::Sender::default().subscribe(),
        }
    }

    /// The cluster's revision, as far as it shows.
    pub fn revision(&self, freshness: Freshness) -> Revision {
        self.horizon(freshness).revision(self.store.revision())
    }

    /// The object at `key`.
    pub fn get(&self, resource: &ResourceId, key: &Key, freshness: Freshness) -> Option<Object> {
        match self.horizon(freshness) {
            Horizon::Live => self.store.get(resource, key),
            past => self.past(resource, &past).objects.get(key).cloned(),
        }
    }

    /// The objects of one resource.
    pub fn snapshot(&self, resource: &ResourceId, freshness: Freshness) -> Snapshot {
        match self.horizon(freshness) {
            Horizon::Live => self.store.snapshot(resource),
            past => self.past(resource, &past),
        }
    }

    /// The objects of one resource as they were at a revision that shows.
    pub fn snapshot_at(
        &self,
        resource: &ResourceId,
        revision: Revision,
    ) -> Result<Snapshot, Expired> {
        match self.horizon(Freshness::Cached) {
            Horizon::Frozen(pinned) if pinned.revision() <= revision => {
                Ok(pinned.snapshot(resource))
            }
            horizon => {
                let newest = horizon.revision(self.store.revision());
                self.store.snapshot_at(resource, revision.min(newest))
            }
        }
    }

    /// Tells every event of `resource` after `from`, as far as it shows.
    pub fn subscribe(&self, resource: &ResourceId, from: Revision) -> Result<Feed, Expired> {
        let subscription = self.store.subscribe(resource, from)?;
        Ok(Feed::new(
            resource.clone(),
            subscription,
            self.store.revisions(),
            self.settings.clone(),
        ))
    }

    fn horizon(&self, freshness: Freshness) -> Horizon {
        let settings = self.settings.borrow();
        match (settings.stale, freshness) {
            (Stale::CachedReads, Freshness::Latest) => Horizon::Live,
            _ => settings.horizon.clone(),
        }
    }

    /// What a view that does not see the present sees of one resource.
    fn past(&self, resource: &ResourceId, horizon: &Horizon) -> Snapshot {
        if let Horizon::Frozen(pinned) = horizon {
            return pinned.snapshot(resource);
        }
        let revision = horizon.revision(self.store.revision());
        // A view cannot lag further than the log remembers.
        let nearest = |expired: Expired| self.store.snapshot_at(resource, expired.oldest);
        let found = self.store.snapshot_at(resource, revision).or_else(nearest);
        found.unwrap_or_else(|_| self.store.snapshot(resource))
    }
}
