//! What exists in the cluster of all sets, kept up to date by one label-selected metadata watch
//! for each kind in use.
//!
//! ```text
//! follow: list ──▶ watch from there ──▶ (ended: again from the last revision; 410, survey: list again)
//! ```
//!
//! A process keeps one view for all its sets; what a set itself writes is put in at once, so that
//! it never acts on a state older than its own last write.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evenkeel_reconcile::RetryPolicy;
use futures::StreamExt;
use kube::api::WatchEvent;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::bells::Bells;
use crate::calls::Calls;
use crate::error::Error;
use crate::key::{GroupKind, ObjectKey};
use crate::live::Live;
use crate::metadata::Seen;
use crate::resource::Resource;
use crate::shelf::{Place, Shelf, State};
use crate::words::Words;

/// What exists of all sets, by kind. Dropping it ends the watches.
#[derive(Debug)]
pub(crate) struct View {
    reader: Arc<Reader>,
    shelves: Mutex<Shelves>,
    tasks: Mutex<JoinSet<()>>,
}

/// The objects of each kind, everywhere or in one namespace.
type Shelves = BTreeMap<(GroupKind, Option<String>), Arc<Shelf>>;

/// The one that an object belongs on.
fn shelf_of<'s>(shelves: &'s Shelves, key: &ObjectKey) -> Option<&'s Arc<Shelf>> {
    let everywhere = || shelves.get(&(key.kind.clone(), None));
    let place = (key.kind.clone(), key.namespace.clone());
    shelves.get(&place).or_else(everywhere)
}

/// How objects are found and read, and who is told of changes.
#[derive(Debug)]
struct Reader {
    calls: Calls,
    owner_key: String,
    words: Words,
    bells: Bells,
    survey: Option<RetryPolicy>,
}

impl Reader {
    fn read(&self, seen: Seen) -> (Place, Live) {
        let metadata = &seen.metadata;
        let namespace = metadata.namespace.as_deref();
        let place = Place {
            namespace: namespace.map(|namespace| self.words.word(namespace)),
            name: metadata.name.as_deref().unwrap_or_default().into(),
        };
        let (owner_key, manager) = (&self.owner_key, &self.calls.manager);
        (place, Live::read(seen, owner_key, manager, &self.words))
    }
}

impl View {
    pub(crate) fn new(calls: Calls, owner_key: String, survey: Option<RetryPolicy>) -> Self {
        let reader = Reader {
            calls,
            owner_key,
            words: Words::default(),
            bells: Bells::default(),
            survey,
        };
        Self {
            reader: Arc::new(reader),
            shelves: Mutex::default(),
            tasks: Mutex::default(),
        }
    }

    /// The objects of a kind in these places, once they are known.
    pub(crate) async fn of(
        &self,
        resource: &Arc<Resource>,
        places: Vec<Option<String>>,
        patience: Duration,
    ) -> Result<Vec<Arc<Shelf>>, String> {
        let shelves = places.into_iter().map(|place| self.shelf(resource, place));
        let shelves: Vec<_> = shelves.collect();
        for shelf in &shelves {
            known(shelf, patience).await?;
        }
        Ok(shelves)
    }

    fn shelf(&self, resource: &Arc<Resource>, place: Option<String>) -> Arc<Shelf> {
        let mut shelves = lock(&self.shelves);
        let key = (resource.kind.clone(), place);
        if let Some(shelf) = shelves.get(&key) {
            return shelf.clone();
        }
        let shelf = Arc::new(Shelf::new(resource.clone(), key.1.clone()));
        shelves.insert(key, shelf.clone());
        lock(&self.tasks).spawn(follow(self.reader.clone(), shelf.clone()));
        shelf
    }

    /// Puts in what the server answered to a write of ours.
    pub(crate) fn wrote(&self, key: &ObjectKey, seen: Seen) -> Live {
        let (place, mut live) = self.reader.read(seen);
        live.accepted = Some(live.fields);
        live.managers = None;
        if let Some(shelf) = shelf_of(&lock(&self.shelves), key) {
            shelf.put(place, live.clone());
        }
        live
    }

    /// Reads what the server answered to a look.
    pub(crate) fn read(&self, seen: Seen) -> Live {
        self.reader.read(seen).1
    }

    /// Takes out what we deleted.
    pub(crate) fn removed(&self, key: &ObjectKey) {
        if let Some(shelf) = shelf_of(&lock(&self.shelves), key) {
            shelf.forget(key);
        }
    }

    /// Who is told of changes.
    pub(crate) fn bells(&self) -> &Bells {
        &self.reader.bells
    }

    /// Forgets what only a set that is no more wanted to know.
    pub(crate) fn leave(&self, mark: &str) {
        self.bells().leave(mark);
        self.tidy(mark, &BTreeMap::new());
    }

    /// Forgets what others removed of a set, except for what is `wanted`.
    pub(crate) fn tidy(&self, mark: &str, wanted: &BTreeMap<&GroupKind, Vec<&ObjectKey>>) {
        for ((kind, _), shelf) in &*lock(&self.shelves) {
            shelf.tidy(mark, wanted.get(kind).map_or(&[], Vec::as_slice));
        }
    }

    /// Lists a kind again, whatever its watch has told.
    pub(crate) async fn relist(&self, shelf: &Shelf) -> Result<(), Error> {
        list(&self.reader, shelf).await.map(drop)
    }
}

/// Waits until a shelf is known.
async fn known(shelf: &Shelf, patience: Duration) -> Result<(), String> {
    let mut state = shelf.state.subscribe();
    let known = timeout(patience, state.wait_for(|state| *state != State::Unknown));
    match known.await {
        Ok(Ok(state)) => match &*state {
            State::Failing(why) => Err(why.clone()),
            State::Unknown | State::Known => Ok(()),
        },
        Ok(Err(_)) | Err(_) => Err(format!("no answer for {patience:?}")),
    }
}

/// Keeps a shelf up to date for ever.
async fn follow(reader: Arc<Reader>, shelf: Arc<Shelf>) {
    let mut failures = 0;
    loop {
        let Err(error) = list_and_watch(&reader, &shelf).await else {
            failures = 0;
            continue;
        };
        failures += 1;
        tracing::warn!(kind = %shelf.resource.kind, %error, "cannot follow a kind");
        shelf.state.send_replace(State::Failing(error.to_string()));
        let calls = &reader.calls;
        sleep(calls.retry.delay(failures, &*calls.dice)).await;
    }
}

/// Lists a kind and returns the revision of the list.
async fn list(reader: &Reader, shelf: &Shelf) -> Result<String, Error> {
    let selector = reader.owner_key.as_str();
    let (seen, revision) = reader
        .calls
        .list(&shelf.resource, shelf.namespace.as_deref(), Some(selector))
        .await?;
    let listed = seen.into_iter().map(|seen| reader.read(seen)).collect();
    reader.bells.ring(&shelf.replace(listed, &revision), true);
    Ok(revision)
}

/// Lists and watches until the server has forgotten the revision that we are at, or until it is
/// time to look at everything again.
async fn list_and_watch(reader: &Reader, shelf: &Shelf) -> Result<(), Error> {
    let mut revision = list(reader, shelf).await?;
    shelf.state.send_replace(State::Known);
    let survey = reader
        .survey
        .map(|every| every.delay(1, &*reader.calls.dice));
    let survey = survey.map(|pause| Instant::now() + pause);
    loop {
        let begun = Instant::now();
        if survey.is_some_and(|due| begun >= due) {
            return Ok(());
        }
        match watch(reader, shelf, &mut revision).await {
            Err(error) if error.code() == Some(410) => return Ok(()),
            ended => ended?,
        }
        // A server that hangs up at once is not asked more often than this.
        if begun.elapsed() < Duration::from_secs(1) {
            sleep(Duration::from_millis(500)).await;
        }
    }
}

/// Watches until the stream ends, whatever the reason: it goes on where it ended.
async fn watch(reader: &Reader, shelf: &Shelf, revision: &mut String) -> Result<(), Error> {
    let namespace = shelf.namespace.as_deref();
    let events = reader
        .calls
        .watch(&shelf.resource, namespace, &reader.owner_key, revision)
        .await?;
    let mut events = std::pin::pin!(events);
    while let Some(Ok(event)) = events.next().await {
        match event {
            WatchEvent::Added(seen) | WatchEvent::Modified(seen) => {
                let (place, live) = reader.read(seen);
                *revision = live.revision.to_string();
                reader.bells.ring(&shelf.robbed(&place, &live), true);
                let marks: Vec<_> = live.marks().cloned().collect();
                let touched = shelf.put(place, live);
                reader.bells.ring(&marks, touched);
            }
            WatchEvent::Deleted(seen) => {
                let (place, live) = reader.read(seen);
                *revision = live.revision.to_string();
                let touched = shelf.take(&place, &live);
                reader.bells.ring(live.marks(), touched);
            }
            WatchEvent::Bookmark(mark) => *revision = mark.metadata.resource_version,
            WatchEvent::Error(status) => {
                return Err(Error::of_call("watch", kube::Error::Api(status)));
            }
        }
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
