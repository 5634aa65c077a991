//! The store itself: a handle that everybody shares.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::event::stamp;
use super::file::{FileError, Journal, Loaded};
use super::state::{CommitError, Expect, State};
use super::table::Table;
use super::{Expired, Key, Object, Objects, ResourceId, Revision, Snapshot, Subscription};

/// All objects of a cluster at one revision, held for as long as somebody wants to look.
#[derive(Debug, Clone, Default)]
pub struct Pinned {
    revision: Revision,
    objects: BTreeMap<ResourceId, Objects>,
}

impl Pinned {
    /// The revision that is held.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The objects of one resource.
    pub fn snapshot(&self, resource: &ResourceId) -> Snapshot {
        let objects = self.objects.get(resource).cloned().unwrap_or_default();
        Snapshot {
            revision: self.revision,
            objects,
        }
    }
}

/// The objects of one cluster. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Store(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// The revision of the latest commit, raised when its event has been sent.
    latest: watch::Sender<Revision>,
}

impl Store {
    /// An empty store in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store in memory that remembers at most `limit` events of each resource.
    pub fn with_log_limit(limit: usize) -> Self {
        Self::of(State {
            log_limit: limit,
            ..State::default()
        })
    }

    /// The store that the file at `path` keeps; made when there is none. Every commit is in the
    /// file, and so survives the process, before it returns.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let Loaded {
            revision,
            objects,
            journal,
        } = Journal::open(path)?;
        let mut state = State {
            revision,
            born: revision,
            journal: Some(journal),
            ..State::default()
        };
        for ((resource, key), object) in objects {
            state.table(&resource).objects.insert_mut(key, object);
        }
        Ok(Self::of(state))
    }

    fn of(state: State) -> Self {
        let latest = watch::Sender::new(state.revision);
        Self(Arc::new(Shared {
            state: Mutex::new(state),
            latest,
        }))
    }

    /// The revision of the latest commit.
    pub fn revision(&self) -> Revision {
        *self.0.latest.borrow()
    }

    /// Tells when the revision has risen.
    pub fn revisions(&self) -> watch::Receiver<Revision> {
        self.0.latest.subscribe()
    }

    /// The resources that have, or had, objects or watchers.
    pub fn resources(&self) -> Vec<ResourceId> {
        self.state().tables.keys().cloned().collect()
    }

    /// The object at `key`.
    pub fn get(&self, resource: &ResourceId, key: &Key) -> Option<Object> {
        self.state().tables.get(resource)?.objects.get(key).cloned()
    }

    /// The objects of one resource now.
    pub fn snapshot(&self, resource: &ResourceId) -> Snapshot {
        let state = self.state();
        let objects = state
            .tables
            .get(resource)
            .map(|table| table.objects.clone())
            .unwrap_or_default();
        Snapshot {
            revision: state.revision,
            objects,
        }
    }

    /// The objects of one resource as they were at `revision` (now, if that is still to come).
    pub fn snapshot_at(
        &self,
        resource: &ResourceId,
        revision: Revision,
    ) -> Result<Snapshot, Expired> {
        let state = self.state();
        let revision = revision.min(state.revision);
        let objects = match state.tables.get(resource) {
            Some(table) => table.objects_at(revision)?,
            None => Table::since(state.born).objects_at(revision)?,
        };
        Ok(Snapshot { revision, objects })
    }

    /// All objects as they were at `revision` (now, if that is still to come), held against
    /// later commits.
    pub fn pin(&self, revision: Revision) -> Result<Pinned, Expired> {
        let state = self.state();
        let revision = revision.min(state.revision);
        let at = |(id, table): (&ResourceId, &Table)| Ok((id.clone(), table.objects_at(revision)?));
        let objects = state.tables.iter().map(at).collect::<Result<_, _>>()?;
        Ok(Pinned { revision, objects })
    }

    /// Puts `object` where nothing is; answers it as stored.
    pub fn create(
        &self,
        resource: &ResourceId,
        key: &Key,
        object: Value,
    ) -> Result<Object, CommitError> {
        self.put(resource, key, Expect::Nothing, object)
    }

    /// Replaces the object at `key` if it still is of `revision`; answers it as stored.
    pub fn update(
        &self,
        resource: &ResourceId,
        key: &Key,
        revision: Revision,
        object: Value,
    ) -> Result<Object, CommitError> {
        self.put(resource, key, Expect::Revision(revision), object)
    }

    /// Removes the object at `key` if it still is of `revision`; answers the deletion's own, new
    /// revision.
    pub fn delete(
        &self,
        resource: &ResourceId,
        key: &Key,
        revision: Revision,
    ) -> Result<Revision, CommitError> {
        let mut state = self.state();
        let before = state.check(resource, key, Expect::Revision(revision))?;
        state.record(resource, key, before, None)?;
        Ok(self.publish(&state))
    }

    fn put(
        &self,
        resource: &ResourceId,
        key: &Key,
        expect: Expect,
        mut object: Value,
    ) -> Result<Object, CommitError> {
        let mut state = self.state();
        let before = state.check(resource, key, expect)?;
        stamp(&mut object, state.revision + 1);
        let object = Arc::new(object);
        state.record(resource, key, before, Some(object.clone()))?;
        self.publish(&state);
        Ok(object)
    }

    /// Takes the locked state, so that revisions are published in order.
    fn publish(&self, state: &State) -> Revision {
        self.0.latest.send_replace(state.revision);
        state.revision
    }

    /// Hears every event of `resource` after `from`.
    pub fn subscribe(
        &self,
        resource: &ResourceId,
        from: Revision,
    ) -> Result<Subscription, Expired> {
        let tail = self.state().table(resource).listen(from)?;
        Ok(Subscription::new(self.clone(), from, tail))
    }

    /// Forgets every event so far: who then asks for what came after an older revision is told
    /// that it expired.
    pub fn compact(&self) {
        let mut state = self.state();
        let revision = state.revision;
        state.born = revision;
        state
            .tables
            .values_mut()
            .for_each(|table| table.compact(revision));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
