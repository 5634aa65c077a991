//! What is behind the store's lock, and the one way in which it changes.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::event::revision_of;
use super::file::Journal;
use super::table::Table;
use super::{Event, Key, Object, ResourceId, Revision};

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

/// Everything that a store knows.
#[derive(Debug)]
pub(super) struct State {
    pub(super) revision: Revision,
    /// The revision at which this process's memory of events begins.
    pub(super) born: Revision,
    pub(super) log_limit: usize,
    pub(super) tables: BTreeMap<ResourceId, Table>,
    pub(super) journal: Option<Journal>,
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

/// What a writer believes to be at the key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expect {
    Nothing,
    Revision(Revision),
}

impl State {
    pub(super) fn table(&mut self, resource: &ResourceId) -> &mut Table {
        let born = self.born;
        self.tables
            .entry(resource.clone())
            .or_insert_with(|| Table::since(born))
    }

    /// What is at `key`, if that is what the writer expects.
    pub(super) fn check(
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
    pub(super) fn record(
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
        let live = self.tables.values().map(|table| table.objects.size()).sum();
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
