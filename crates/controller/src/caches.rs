//! The streams of a process, shared by all its controllers.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_ambient::SharedRandom;
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::key::ResourceId;
use crate::stream::{Following, Stream, StreamState};
use crate::watched::Watched;
use crate::writes::{Mark, Written};

/// A stream of some kind.
pub(crate) trait AnyStream: Send + Sync {
    fn resource(&self) -> &ResourceId;
    fn state(&self) -> watch::Receiver<StreamState>;
    fn progress(&self) -> watch::Receiver<()>;
    fn has_seen(&self, written: &Written) -> bool;
    fn list_again(&self);
    fn selector(&self) -> &str;
    fn count(&self) -> usize;
    fn following(&self) -> Following;
    fn followed(self: Arc<Self>) -> BoxFuture<'static, ()>;
}

impl<T: Watched> AnyStream for Stream<T> {
    fn resource(&self) -> &ResourceId {
        &self.resource
    }

    fn state(&self) -> watch::Receiver<StreamState> {
        self.state()
    }

    fn progress(&self) -> watch::Receiver<()> {
        self.progress()
    }

    fn has_seen(&self, written: &Written) -> bool {
        let store = self.read();
        match &written.mark {
            Mark::At(revision) => store.revision() >= Some(*revision),
            Mark::Gone { uid } => store
                .get(&written.object)
                .is_none_or(|known| known.meta().uid.as_ref() != Some(uid)),
        }
    }

    fn list_again(&self) {
        self.list_again();
    }

    fn selector(&self) -> &str {
        self.selector()
    }

    fn count(&self) -> usize {
        self.read().len()
    }

    fn following(&self) -> Following {
        self.following()
    }

    fn followed(self: Arc<Self>) -> BoxFuture<'static, ()> {
        async move { self.follow().await }.boxed()
    }
}

/// What tells one stream from another.
type Which = (TypeId, Option<String>);

/// The streams of a process: one for each kind and selection, however many controllers want it.
pub(crate) struct Caches {
    client: Client,
    dice: SharedRandom,
    streams: Mutex<BTreeMap<Which, Shared>>,
}

/// One stream, for whoever knows its type and for whoever does not.
struct Shared {
    typed: Arc<dyn Any + Send + Sync>,
    any: Arc<dyn AnyStream>,
}

impl Caches {
    pub(crate) fn new(client: Client, dice: SharedRandom) -> Self {
        Self {
            client,
            dice,
            streams: Mutex::default(),
        }
    }

    /// The stream of these objects, new or shared.
    pub(crate) fn stream<T: Watched>(&self, labels: Option<&str>) -> Arc<Stream<T>> {
        let which = (TypeId::of::<T>(), labels.map(str::to_owned));
        let mut streams = self.lock();
        let known = streams.get(&which).map(|shared| shared.typed.clone());
        if let Some(Ok(stream)) = known.map(Arc::downcast) {
            return stream;
        }
        let labels = which.1.clone();
        let stream = Stream::<T>::new(self.client.clone(), labels, self.dice.clone());
        let stream = Arc::new(stream);
        let shared = Shared {
            typed: stream.clone(),
            any: stream.clone(),
        };
        streams.insert(which, shared);
        stream
    }

    /// Every stream.
    pub(crate) fn all(&self) -> Vec<Arc<dyn AnyStream>> {
        self.lock()
            .values()
            .map(|shared| shared.any.clone())
            .collect()
    }

    /// Follows every stream until the answer is dropped.
    pub(crate) fn follow(&self) -> JoinSet<()> {
        self.all().into_iter().map(AnyStream::followed).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Which, Shared>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until each of `streams` knows its objects or cannot.
pub(crate) async fn settled(streams: &[Arc<dyn AnyStream>]) {
    for stream in streams {
        // The stream lives as long as its receiver is waited for.
        let _ = stream.state().wait_for(StreamState::is_settled).await;
    }
}
