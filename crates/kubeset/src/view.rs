//! What exists in the cluster of all sets, kept up to date by one label-selected metadata watch
//! for each kind in use.
//!
//! ```text
//! follow: list ──▶ watch from there ──▶ (ended: again from the last revision; 410: list again)
//! ```
//!
//! A process keeps one view for all its sets; what a set itself writes is put in at once, so that
//! it never acts on a state older than its own last write.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use kube::api::WatchEvent;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::calls::{Calls, Seen};
use crate::error::Error;
use crate::key::{GroupKind, ObjectKey};
use crate::live::Live;
use crate::resource::Resource;

/// What exists of all sets, by kind. Dropping it ends the watches.
#[derive(Debug)]
pub(crate) struct View {
    reader: Arc<Reader>,
    shelves: Mutex<BTreeMap<GroupKind, Arc<Shelf>>>,
    tasks: Mutex<JoinSet<()>>,
}

/// How objects are found and read, and who is told of changes.
#[derive(Debug)]
struct Reader {
    calls: Calls,
    owner_key: String,
    bells: Mutex<BTreeMap<String, watch::Sender<Rings>>>,
}

/// How often something happened to the objects of one set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rings {
    /// Somebody else changed or removed something of ours.
    pub touched: u64,
    /// Anything at all happened, a change of status included.
    pub stirred: u64,
}

impl Reader {
    fn read(&self, seen: Seen) -> (Place, Live) {
        let metadata = &seen.metadata;
        let place = (
            metadata.namespace.clone(),
            metadata.name.clone().unwrap_or_default(),
        );
        (
            place,
            Live::read(seen, &self.owner_key, &self.calls.manager),
        )
    }

    /// Tells whoever waits that something happened to the objects of `owner`.
    fn ring(&self, owner: Option<&str>, touched: bool) {
        if let Some(owner) = owner
            && let Some(bell) = lock(&self.bells).get(owner)
        {
            bell.send_modify(|rung| {
                rung.stirred += 1;
                rung.touched += u64::from(touched);
            });
        }
    }
}

impl View {
    pub(crate) fn new(calls: Calls, owner_key: String) -> Self {
        let bells = Mutex::default();
        let reader = Reader {
            calls,
            owner_key,
            bells,
        };
        Self {
            reader: Arc::new(reader),
            shelves: Mutex::default(),
            tasks: Mutex::default(),
        }
    }

    /// The objects of a kind, once they are known.
    pub(crate) async fn of(
        &self,
        resource: &Resource,
        patience: Duration,
    ) -> Result<Arc<Shelf>, String> {
        let shelf = self.shelf(resource);
        let mut state = shelf.state.subscribe();
        let known = timeout(patience, state.wait_for(|state| *state != State::Unknown));
        match known.await {
            Ok(Ok(state)) => match &*state {
                State::Failing(why) => Err(why.clone()),
                State::Unknown | State::Known => Ok(shelf.clone()),
            },
            Ok(Err(_)) | Err(_) => Err(format!("no answer for {patience:?}")),
        }
    }

    fn shelf(&self, resource: &Resource) -> Arc<Shelf> {
        let mut shelves = lock(&self.shelves);
        if let Some(shelf) = shelves.get(&resource.kind) {
            return shelf.clone();
        }
        let shelf = Arc::new(Shelf::new(resource.clone()));
        shelves.insert(resource.kind.clone(), shelf.clone());
        lock(&self.tasks).spawn(follow(self.reader.clone(), shelf.clone()));
        shelf
    }

    /// Puts in what the server answered to a write of ours.
    pub(crate) fn wrote(&self, key: &ObjectKey, seen: Seen) -> Live {
        let (place, mut live) = self.reader.read(seen);
        live.accepted = Some(live.fields);
        live.managers = None;
        if let Some(shelf) = lock(&self.shelves).get(&key.kind) {
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
        if let Some(shelf) = lock(&self.shelves).get(&key.kind) {
            lock(&shelf.content).forget(&(key.namespace.clone(), key.name.clone()));
        }
    }

    /// Counts what happens to the objects of `owner`.
    pub(crate) fn bell(&self, owner: &str) -> watch::Receiver<Rings> {
        let mut bells = lock(&self.reader.bells);
        bells.entry(owner.to_owned()).or_default().subscribe()
    }
}

type Place = (Option<String>, String);

/// How well the objects of a kind are known.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// Nobody has answered yet.
    Unknown,
    /// As of a moment ago.
    Known,
    /// They cannot be listed or watched.
    Failing(String),
}

/// The objects of one kind.
#[derive(Debug)]
pub(crate) struct Shelf {
    resource: Resource,
    state: watch::Sender<State>,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    objects: BTreeMap<Place, Live>,
    /// What was applied to objects that somebody else removed.
    gone: BTreeMap<Place, u64>,
}

impl Content {
    fn forget(&mut self, place: &Place) {
        self.objects.remove(place);
        self.gone.remove(place);
    }
}

impl Shelf {
    fn new(resource: Resource) -> Self {
        Self {
            resource,
            state: watch::Sender::new(State::Unknown),
            content: Mutex::default(),
        }
    }

    /// The objects of `owner`, and what `also` names.
    pub(crate) fn select(
        &self,
        owner: &str,
        also: impl Fn(&ObjectKey) -> bool,
    ) -> Vec<(ObjectKey, Live)> {
        let content = lock(&self.content);
        let keyed = content
            .objects
            .iter()
            .map(|(place, live)| (self.key(place), live));
        keyed
            .filter(|(key, live)| live.owner.as_deref() == Some(owner) || also(key))
            .map(|(key, live)| (key, live.clone()))
            .collect()
    }

    /// What was applied to an object that somebody else removed.
    pub(crate) fn gone_of(&self, key: &ObjectKey) -> Option<u64> {
        if key.kind != self.resource.kind {
            return None;
        }
        let place = (key.namespace.clone(), key.name.clone());
        lock(&self.content).gone.get(&place).copied()
    }

    fn key(&self, (namespace, name): &Place) -> ObjectKey {
        self.resource.key(namespace.as_deref(), name)
    }

    /// Puts in a state unless a later one is known. Says whether others changed something of ours.
    fn put(&self, place: Place, mut live: Live) -> bool {
        let mut content = lock(&self.content);
        content.gone.remove(&place);
        if let Some(known) = content.objects.get_mut(&place) {
            if known.revision == live.revision && live.accepted.is_some() {
                // The watch was quicker than the answer to our own write.
                *known = live;
                return false;
            }
            if !live.is_newer_than(&known.revision) {
                return false;
            }
            if known.uid == live.uid && known.seal == live.seal {
                live.accepted = live.accepted.or(known.accepted);
            }
        }
        let touched = !live.is_untouched() || live.leaving;
        content.objects.insert(place, live);
        touched
    }

    /// Takes out an object that is gone, unless a later state is known.
    fn take(&self, place: Place, last: &Live) -> bool {
        let mut content = lock(&self.content);
        let stays = content
            .objects
            .get(&place)
            .is_none_or(|known| known.is_newer_than(&last.revision));
        if stays {
            return false;
        }
        content.objects.remove(&place);
        if let Some(seal) = last.seal {
            content.gone.insert(place, seal.content);
        }
        true
    }

    /// Makes the content what a list says, except for states later than the list.
    fn replace(&self, listed: BTreeMap<Place, Live>, revision: &str) -> Vec<Box<str>> {
        let missing: Vec<_> = {
            let content = lock(&self.content);
            let known = content.objects.iter();
            known
                .filter(|(place, live)| {
                    !listed.contains_key(*place) && !live.is_newer_than(revision)
                })
                .map(|(place, live)| (place.clone(), live.clone()))
                .collect()
        };
        let mut owners = Vec::new();
        for (place, live) in missing {
            let owner = live.owner.clone();
            if self.take(place, &live) {
                owners.extend(owner);
            }
        }
        for (place, live) in listed {
            let owner = live.owner.clone();
            if self.put(place, live) {
                owners.extend(owner);
            }
        }
        owners
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

/// Lists and watches until the server has forgotten the revision that we are at.
async fn list_and_watch(reader: &Reader, shelf: &Shelf) -> Result<(), Error> {
    let selector = reader.owner_key.as_str();
    let (seen, mut revision) = reader
        .calls
        .list(&shelf.resource, None, Some(selector))
        .await?;
    let listed = seen.into_iter().map(|seen| reader.read(seen)).collect();
    for owner in shelf.replace(listed, &revision) {
        reader.ring(Some(&owner), true);
    }
    shelf.state.send_replace(State::Known);
    loop {
        let begun = Instant::now();
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
    let events = reader
        .calls
        .watch(&shelf.resource, &reader.owner_key, revision)
        .await?;
    let mut events = std::pin::pin!(events);
    while let Some(Ok(event)) = events.next().await {
        match event {
            WatchEvent::Added(seen) | WatchEvent::Modified(seen) => {
                let (place, live) = reader.read(seen);
                revision.clone_from(&live.revision);
                let owner = live.owner.clone();
                let touched = shelf.put(place, live);
                reader.ring(owner.as_deref(), touched);
            }
            WatchEvent::Deleted(seen) => {
                let (place, live) = reader.read(seen);
                revision.clone_from(&live.revision);
                let owner = live.owner.clone();
                let touched = shelf.take(place, &live);
                reader.ring(owner.as_deref(), touched);
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
