//! The store itself: a handle that everybody shares.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use imbl::OrdMap;
use serde_json::Value;
use tokio::sync::watch;

use super::event::{revision_of, stamp};
use super::file::{FileError, Journal, Loaded};
use super::table::Table;
use super::{Event, Expired, Key, Object, ResourceId, Revision, Snapshot, Subscription};

/// How many events of each resource are remembered.
const LOG_LIMIT: usize = 1_024;

/// Why a commit changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Nothing may be where a new object goes; this is there.
    #[error("an object is already there")]
    Exists(Object),
    /// There is no object to replace or delete.
    #[error("no object is there")]
    Missing,
    /// The object has changed since it was read; this is what it is now.
    #[error("the object has changed meanwhile")]
    Changed(Object),
    /// The file that keeps the store took no more.
    #[error("keep the change in the store's file")]
    File(#[source] Arc<io::Error>),
}

/// All objects of a cluster at one revision, held for as long as somebody wants to look.
#[derive(Debug, Clone, Default)]
pub struct Pinned {
    revision: Revision,
    objects: BTreeMap<ResourceId, OrdMap<Key, Object>>,
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

#[derive(Debug)]
struct State {
    revision: Revision,
    /// The revision at which this process's memory of events begins.
    born: Revision,
    log_limit: usize,
    tables: BTreeMap<ResourceId, Table>,
    journal: Option<Journal>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            revision: 0,
            born: 0,
            log_limit: LOG_LIMIT,
            tables: BTreeMap::new(),
            journal: None,
        }
    }
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
            state.table(&resource).objects.insert(key, object);
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

    /// The resources that have, or had, objects.
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
        let mut state = self.state();
        let revision = revision.min(state.revision);
        let objects = state.table(resource).objects_at(revision)?;
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

/// What a writer believes to be at the key.
#[derive(Debug, Clone, Copy)]
enum Expect {
    Nothing,
    Revision(Revision),
}

impl State {
    fn table(&mut self, resource: &ResourceId) -> &mut Table {
        let born = self.born;
        self.tables
            .entry(resource.clone())
            .or_insert_with(|| Table::since(born))
    }

    /// What is at `key`, if that is what the writer expects.
    fn check(
        &self,
        resource: &ResourceId,
        key: &Key,
        expect: Expect,
    ) -> Result<Option<Object>, CommitError> {
        let found = self
            .tables
            .get(resource)
            .and_then(|table| table.objects.get(key))
            .cloned();
        match (expect, found) {
            (Expect::Nothing, None) => Ok(None),
            (Expect::Nothing, Some(object)) => Err(CommitError::Exists(object)),
            (Expect::Revision(_), None) => Err(CommitError::Missing),
            (Expect::Revision(revision), Some(object))
                if revision_of(&object) == Some(revision) =>
            {
                Ok(Some(object))
            }
            (Expect::Revision(_), Some(object)) => Err(CommitError::Changed(object)),
        }
    }

    /// Makes the change durable, then true.
    fn record(
        &mut self,
        resource: &ResourceId,
        key: &Key,
        before: Option<Object>,
        after: Option<Object>,
    ) -> Result<(), CommitError> {
        let revision = self.revision + 1;
        if let Some(journal) = &mut self.journal {
            let kept = journal.append(resource, key, revision, after.as_deref());
            kept.map_err(|error| CommitError::File(Arc::new(error)))?;
        }
        let limit = self.log_limit;
        let event = Event::new(revision, key.clone(), before, after);
        self.table(resource).record(event, limit);
        self.revision = revision;
        self.shorten_journal();
        Ok(())
    }

    /// Rewrites the journal when most of what it holds is history. A failure is no harm: the
    /// long journal is still whole, and the next commit tries again.
    fn shorten_journal(&mut self) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let live = self.tables.values().map(|table| table.objects.len()).sum();
        if !journal.is_mostly_history(live) {
            return;
        }
        let objects = self.tables.iter().flat_map(|(resource, table)| {
            table
                .objects
                .iter()
                .map(move |(key, object)| (resource, key, &**object))
        });
        if let Err(error) = journal.rewrite(self.revision, objects) {
            tracing::warn!(%error, "rewrite the store's file");
        }
    }
}
