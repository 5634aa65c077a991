//! What is wrong with a client's view of the cluster, as told so far.

use std::sync::Arc;
use std::time::Duration;

use crate::store::{Pinned, ResourceId, Revision};

/// What a view shows and how it misbehaves. Watches follow changes of it while they run.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) horizon: Horizon,
    pub(super) stale: Stale,
    /// Watches tell nothing; what happens meanwhile is told as one change for each object.
    pub(super) hold: bool,
    /// How much later than it happened watches tell of an event.
    pub(super) delay: Duration,
    /// What running watches have been told to do, ever. Each obeys those given after its start.
    pub(super) orders: Vec<Order>,
}

/// How far a view sees.
#[derive(Debug, Clone, Default)]
pub(super) enum Horizon {
    #[default]
    Live,
    Frozen(Arc<Pinned>),
    Behind(u64),
}

impl Horizon {
    /// The newest revision that shows while the cluster's is `latest`.
    pub(super) fn revision(&self, latest: Revision) -> Revision {
        match self {
            Self::Live => latest,
            Self::Frozen(pinned) => latest.min(pinned.revision()),
            Self::Behind(events) => latest.saturating_sub(*events),
        }
    }
}

/// Which reads a frozen or lagging view answers from the past.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stale {
    /// All of them: the harshest replica that there can be.
    #[default]
    AllReads,
    /// Watches, and reads that say that old data will do (`resourceVersion=0`), as a server
    /// whose cache hangs. Reads of the latest state go through.
    CachedReads,
}

/// How new an answer the client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The latest state: a read without `resourceVersion`.
    Latest,
    /// Any state that a cache holds: a read with `resourceVersion`.
    Cached,
}

/// Something that running watches do once.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// Those of one resource only.
    pub(super) resource: Option<ResourceId>,
    pub(super) deed: Deed,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Deed {
    Cut(Cut),
    /// Keep silent about this many events to come.
    Drop(usize),
}

/// How a watch ends before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The server ends the stream in good order.
    Close,
    /// The connection breaks.
    Reset,
}
