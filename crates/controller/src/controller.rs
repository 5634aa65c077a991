//! Declaring a controller: what it is for, what wakes it, what it writes.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use evenkeel_reconcile::Delays;
use evenkeel_reconcile::runner::{Handle, Request, Settings};
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Resource;

use crate::background::Leading;
use crate::caches::{AnyStream, Caches};
use crate::context::Stores;
use crate::index::{SharedIndex, set_references};
use crate::key::{Key, ResourceId};
use crate::owner::controlling_owner;
use crate::predicate::{Predicate, declared_change};
use crate::rbac::{Rights, Verb};
use crate::reconciler::Reconciler;
use crate::store::Change;
use crate::stream::Stream;
use crate::watched::{Watch, Watched};

/// How often every object is looked at although nothing happened.
const RESYNC: Duration = Duration::from_secs(600);

type Source<K> = Box<dyn FnOnce(&mut Wiring<'_, K>) + Send>;
type Background<K> = Box<dyn FnOnce(Leading<K>) -> BoxFuture<'static, ()> + Send>;

/// A controller: what it is for, what wakes it, what it writes.
pub struct Controller<R: Reconciler> {
    pub(crate) name: &'static str,
    pub(crate) reconciler: Arc<R>,
    pub(crate) settings: Settings,
    pub(crate) background: Vec<Background<R::Kind>>,
    rights: Rights,
    primary: Watch<R::Kind>,
    sources: Vec<Source<R::Kind>>,
}

impl<R: Reconciler> Controller<R> {
    /// A controller for all objects of the reconciler's kind. `name` is a short word that never
    /// changes: it marks what the controller writes.
    pub fn new(name: &'static str, reconciler: R) -> Self {
        Self {
            name,
            reconciler: Arc::new(reconciler),
            settings: Settings {
                delays: Delays::resync_every(RESYNC),
                ..Settings::default()
            },
            background: Vec::new(),
            rights: Rights::default(),
            primary: Watch::all().when(declared_change),
            sources: Vec::new(),
        }
    }

    /// Only some objects of its kind, or other changes of them than those that people declare.
    #[must_use]
    pub fn only(self, primary: Watch<R::Kind>) -> Self {
        let when = primary.when.or(self.primary.when);
        let labels = primary.labels;
        let primary = Watch { labels, when };
        Self { primary, ..self }
    }

    /// Also wakes an object when something that it controls changes or vanishes.
    #[must_use]
    pub fn owns<T: Watched>(self, watch: Watch<T>) -> Self {
        self.source(move |wiring| wiring.owns(&watch))
    }

    /// Also wakes an object when something that it refers to appears, changes or vanishes;
    /// `references` tells what that is.
    #[must_use]
    pub fn watches<T: Watched>(
        self,
        watch: Watch<T>,
        references: impl Fn(&R::Kind) -> Vec<Key> + Send + Sync + 'static,
    ) -> Self {
        self.source(move |wiring| wiring.watches(&watch, references))
    }

    /// Also wakes an object when something appears, changes or vanishes that its last run said it
    /// looked at: see [`Context::looks_at`](crate::Context::looks_at). For references of references,
    /// which an object alone cannot tell.
    #[must_use]
    pub fn follows<T: Watched>(self, watch: Watch<T>) -> Self {
        self.source(move |wiring| wiring.follows(&watch))
    }

    /// Also knows the objects of a kind, without being woken by them.
    #[must_use]
    pub fn knows<T: Watched>(self, watch: Watch<T>) -> Self {
        self.source(move |wiring| {
            wiring.stream(&watch);
        })
    }

    fn source(mut self, wire: impl FnOnce(&mut Wiring<'_, R::Kind>) + Send + 'static) -> Self {
        self.sources.push(Box::new(wire));
        self
    }

    /// Says that it writes objects of kind `T` in these ways, for the rights it needs.
    #[must_use]
    pub fn writes<T: Resource<DynamicType = ()>>(mut self, verbs: &[Verb]) -> Self {
        self.rights.allow(&ResourceId::of::<T>(), verbs);
        self
    }

    /// The same for a part of objects of kind `T`, such as `status`.
    #[must_use]
    pub fn writes_part<T: Resource<DynamicType = ()>>(
        mut self,
        part: &str,
        verbs: &[Verb],
    ) -> Self {
        self.rights.allow_part(&ResourceId::of::<T>(), part, verbs);
        self
    }

    /// Changes how runs are made: how many at once, how long they may take, when they are repeated.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Also does `work` for as long as the process leads.
    #[must_use]
    pub fn meanwhile<F>(mut self, work: impl FnOnce(Leading<R::Kind>) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.background
            .push(Box::new(|leading| work(leading).boxed()));
        self
    }

    /// Ties what is watched to `handle`.
    pub(crate) fn wire(&mut self, caches: &Caches, handle: &Handle<Key>) -> Wired<R::Kind> {
        let primary = caches.stream::<R::Kind>(self.primary.labels.as_deref());
        let mut wiring = Wiring::new(caches, primary, handle.clone(), self.rights.clone());
        for source in self.sources.drain(..) {
            source(&mut wiring);
        }
        wiring.wake_on_change(self.primary.predicate());
        wiring.into_wired()
    }
}

impl<R: Reconciler> std::fmt::Debug for Controller<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A controller whose streams are tied to its queue.
pub(crate) struct Wired<K> {
    pub(crate) primary: Arc<Stream<K>>,
    pub(crate) stores: Stores,
    pub(crate) streams: Vec<Arc<dyn AnyStream>>,
    pub(crate) rights: Rights,
}

/// A controller whose streams are being tied to its queue.
struct Wiring<'c, K> {
    caches: &'c Caches,
    primary: Arc<Stream<K>>,
    handle: Handle<Key>,
    stores: Stores,
    streams: Vec<Arc<dyn AnyStream>>,
    rights: Rights,
}

impl<'c, K: Watched> Wiring<'c, K> {
    fn new(
        caches: &'c Caches,
        primary: Arc<Stream<K>>,
        handle: Handle<Key>,
        mut rights: Rights,
    ) -> Self {
        let mut stores = Stores::default();
        stores.add(Arc::clone(&primary));
        rights.allow(&primary.resource, &Verb::READ);
        Self {
            caches,
            streams: vec![primary.clone()],
            primary,
            handle,
            stores,
            rights,
        }
    }

    fn stream<T: Watched>(&mut self, watch: &Watch<T>) -> Arc<Stream<T>> {
        let stream = self.caches.stream::<T>(watch.labels.as_deref());
        self.rights.allow(&stream.resource, &Verb::READ);
        self.stores.add(Arc::clone(&stream));
        self.streams.push(stream.clone());
        stream
    }

    /// Wakes the owner, if it is the one with that uid. A namesake is not, and an owner that is not
    /// known will be woken when it is.
    fn owns<T: Watched>(&mut self, watch: &Watch<T>) {
        let (stream, matters) = (self.stream(watch), watch.predicate());
        let (primary, handle) = (Arc::clone(&self.primary), self.handle.clone());
        stream.listen(Arc::new(move |change: &Change<T>| {
            if !matters(change.before.as_deref(), change.after.as_deref()) {
                return;
            }
            for owner in owners::<K, T>(change) {
                let known = primary.get(&owner.key);
                if known.is_some_and(|known| known.meta().uid.as_ref() == Some(&owner.uid)) {
                    handle.add(owner.key, Request::owned());
                }
            }
        }));
    }

    fn watches<T: Watched>(
        &mut self,
        watch: &Watch<T>,
        references: impl Fn(&K) -> Vec<Key> + Send + Sync + 'static,
    ) {
        let index = SharedIndex::default();
        let of_objects = Arc::clone(&index);
        self.primary.listen(Arc::new(move |change: &Change<K>| {
            let now = change.after.as_deref().map(&references).unwrap_or_default();
            set_references(&of_objects, &change.key, now.into_iter().collect());
        }));
        self.wake_referrers(watch, index);
    }

    /// What runs look at is said by them; what is gone looks at nothing.
    fn follows<T: Watched>(&mut self, watch: &Watch<T>) {
        let index = self.stores.looks::<T>();
        let of_runs = Arc::clone(&index);
        self.primary.listen(Arc::new(move |change: &Change<K>| {
            if change.after.is_none() {
                set_references(&of_runs, &change.key, BTreeSet::new());
            }
        }));
        self.wake_referrers(watch, index);
    }

    fn wake_referrers<T: Watched>(&mut self, watch: &Watch<T>, index: SharedIndex) {
        let (handle, matters) = (self.handle.clone(), watch.predicate());
        self.stream(watch)
            .listen(Arc::new(move |change: &Change<T>| {
                if !matters(change.before.as_deref(), change.after.as_deref()) {
                    return;
                }
                let index = index.lock().unwrap_or_else(PoisonError::into_inner);
                for referrer in index.referrers(&change.key) {
                    handle.add(referrer.clone(), Request::related());
                }
            }));
    }

    /// Comes last, so that references are known before anything runs.
    fn wake_on_change(&self, matters: Predicate<K>) {
        let handle = self.handle.clone();
        self.primary.listen(Arc::new(move |change: &Change<K>| {
            let (before, after) = (change.before.as_deref(), change.after.as_deref());
            if matters(before, after) {
                handle.add(change.key.clone(), request(change));
            }
        }));
    }

    fn into_wired(self) -> Wired<K> {
        Wired {
            primary: self.primary,
            stores: self.stores,
            streams: self.streams,
            rights: self.rights,
        }
    }
}

fn request<K: Resource>(change: &Change<K>) -> Request {
    let after = change.after.as_deref();
    let generation = after.and_then(|object| object.meta().generation);
    let generation = generation.and_then(|number| u64::try_from(number).ok());
    let request = match change.listed {
        true => Request::listed(),
        false => Request::changed(),
    };
    request.generation(generation.unwrap_or_default())
}

/// The owners that controlled the object before and after.
fn owners<K: Watched, T: Watched>(change: &Change<T>) -> BTreeSet<crate::owner::OwnerKey> {
    let states = [&change.before, &change.after].into_iter().flatten();
    states
        .filter_map(|object| controlling_owner::<K>(object.meta()))
        .collect()
}
