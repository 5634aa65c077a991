//! Work that a controller does beside its runs, for as long as the process leads.

use std::sync::Arc;

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_lease::Term;
use evenkeel_reconcile::runner::{Handle, Request};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::context::{Known, Shared};
use crate::error::NotKnown;
use crate::key::Key;
use crate::metrics::Numbers;
use crate::watched::Watched;

/// What work beside the runs may use.
pub struct Leading<K> {
    pub(crate) client: Client,
    pub(crate) handle: Handle<Key>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) numbers: Numbers,
    pub(crate) term: Term,
    pub(crate) stop: CancellationToken,
    pub(crate) _kind: std::marker::PhantomData<fn() -> K>,
}

impl<K: Watched> Leading<K> {
    /// A client that falls silent when the lease is lost.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Asks for a run of `key`.
    pub fn wake(&self, key: Key, request: Request) {
        self.handle.add(key, request);
    }

    /// The controller's own objects.
    ///
    /// # Errors
    /// When they could not be listed yet.
    pub fn objects(&self) -> Result<Known<K>, NotKnown> {
        self.shared.stores.known()
    }

    /// The objects of another kind that the controller watches.
    ///
    /// # Errors
    /// When they could not be listed yet, or are not watched.
    pub fn known<T: Watched>(&self) -> Result<Known<T>, NotKnown> {
        self.shared.stores.known()
    }

    /// The clock.
    pub fn clock(&self) -> &SharedClock {
        &self.shared.clock
    }

    /// The dice.
    pub fn dice(&self) -> &SharedRandom {
        &self.shared.dice
    }

    /// Says in the metrics how many things outside the cluster nobody declares any more.
    pub fn count_orphans(&self, count: usize) {
        self.numbers.orphans(count);
    }

    /// The time during which the process leads.
    pub fn term(&self) -> &Term {
        &self.term
    }

    /// Cancelled when the process is to stop.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }
}

impl<K> std::fmt::Debug for Leading<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leading").finish_non_exhaustive()
    }
}
