//! What a run may use.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_ambient::{SharedClock, SharedRandom};
use kube::Client;

use crate::error::NotKnown;
use crate::events::Recorder;
use crate::index::{SharedIndex, set_references};
use crate::key::Key;
use crate::stream::Stream;
use crate::watched::Watched;

/// What a run may use: its client, what is known of the cluster, the clock, the dice. Clones share.
#[derive(Clone)]
pub struct Context {
    pub(crate) client: Client,
    pub(crate) run: Key,
    pub(crate) shared: Arc<Shared>,
}

/// What all runs of a controller use.
pub(crate) struct Shared {
    /// The controller's name, which is also the name of its writes.
    pub(crate) name: &'static str,
    pub(crate) stores: Stores,
    pub(crate) clock: SharedClock,
    pub(crate) dice: SharedRandom,
    pub(crate) recorder: Recorder,
}

/// The streams of a controller by type, and what its runs looked at in those that it follows.
#[derive(Default, Clone)]
pub(crate) struct Stores {
    streams: BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>,
    looks: BTreeMap<TypeId, SharedIndex>,
}

impl Stores {
    pub(crate) fn add<T: Watched>(&mut self, stream: Arc<Stream<T>>) {
        self.streams.insert(TypeId::of::<T>(), stream);
    }

    fn get<T: Watched>(&self) -> Option<Arc<Stream<T>>> {
        let stream = self.streams.get(&TypeId::of::<T>())?;
        Arc::clone(stream).downcast().ok()
    }

    /// What runs looked at among the objects of a kind.
    pub(crate) fn looks<T: Watched>(&mut self) -> SharedIndex {
        Arc::clone(self.looks.entry(TypeId::of::<T>()).or_default())
    }
}

impl Context {
    /// A client for this run. Its writes are noted, so that the next run sees them, and it falls
    /// silent when the lease is lost.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The key of the run.
    pub fn key(&self) -> &Key {
        &self.run
    }

    /// The clock.
    pub fn clock(&self) -> &SharedClock {
        &self.shared.clock
    }

    /// The dice.
    pub fn dice(&self) -> &SharedRandom {
        &self.shared.dice
    }

    /// The name under which the controller writes: its field manager.
    pub fn manager(&self) -> &'static str {
        self.shared.name
    }

    /// Says which objects of a kind that the controller follows this run looks at, whether or not
    /// they exist: it runs again when one of them changes. Say it before looking, so that no change
    /// falls between; what earlier runs said no longer counts.
    pub fn looks_at<T: Watched>(&self, objects: impl IntoIterator<Item = Key>) {
        if let Some(index) = self.shared.stores.looks.get(&TypeId::of::<T>()) {
            set_references(index, &self.run, objects.into_iter().collect());
        }
    }

    /// What is known of a kind that the controller watches.
    ///
    /// # Errors
    /// When the objects could not be listed yet, or the controller does not watch them.
    pub fn known<T: Watched>(&self) -> Result<Known<T>, NotKnown> {
        self.shared.stores.known()
    }
}

impl Stores {
    pub(crate) fn known<T: Watched>(&self) -> Result<Known<T>, NotKnown> {
        let not_known = |why: &str| NotKnown {
            resource: crate::key::ResourceId::of::<T>(),
            why: why.to_owned(),
        };
        let stream = self
            .get::<T>()
            .ok_or_else(|| not_known("the controller does not watch them"))?;
        let state = stream.state();
        let state = state.borrow();
        if state.synced {
            return Ok(Known(stream));
        }
        Err(not_known(
            state.failing.as_deref().unwrap_or("no answer yet"),
        ))
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}

/// All objects of a kind, as of a moment ago and never older than this run's earlier writes.
pub struct Known<T>(pub(crate) Arc<Stream<T>>);

impl<T> Clone for Known<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Watched> Known<T> {
    /// One of them.
    pub fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.0.get(key)
    }

    /// Those that `owner` controls, by its uid.
    pub fn controlled_by(&self, owner: &impl kube::Resource) -> Vec<Arc<T>> {
        let uid = owner.meta().uid.as_deref().unwrap_or_default();
        self.0.read().controlled_by(uid).cloned().collect()
    }

    /// All of them, in the order of their keys.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.0
            .read()
            .iter()
            .map(|(_, object)| object.clone())
            .collect()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.read().len()
    }
}

impl<T> std::fmt::Debug for Known<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").finish_non_exhaustive()
    }
}
