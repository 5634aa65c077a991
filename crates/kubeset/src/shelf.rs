//! The objects of one kind that carry the mark of any set.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::key::ObjectKey;
use crate::live::Live;
use crate::resource::Resource;

/// How well the objects of a kind are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody has answered yet.
    Unknown,
    /// As of a moment ago.
    Known,
    /// They cannot be listed or watched.
    Failing(String),
}

/// Where an object of a kind is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) namespace: Option<Arc<str>>,
    pub(crate) name: Arc<str>,
}

impl Place {
    fn of(key: &ObjectKey) -> Self {
        Self {
            namespace: key.namespace.as_deref().map(Into::into),
            name: key.name.as_str().into(),
        }
    }
}

/// The objects of one kind.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) resource: Arc<Resource>,
    /// The namespace that they are in; all if none is named.
    pub(crate) namespace: Option<String>,
    pub(crate) state: watch::Sender<State>,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    objects: BTreeMap<Place, Live>,
    /// What concerns each set, so that a look at one costs nothing for the others.
    of: BTreeMap<Arc<str>, Part>,
}

/// What concerns one set.
#[derive(Debug, Default)]
struct Part {
    places: BTreeSet<Place>,
    /// What was applied to objects that somebody else removed.
    gone: BTreeMap<Place, u64>,
}

impl Content {
    fn insert(&mut self, place: Place, live: Live) {
        self.remove(&place);
        for mark in live.marks() {
            let part = self.of.entry(mark.clone()).or_default();
            part.places.insert(place.clone());
            part.gone.remove(&place);
        }
        self.objects.insert(place, live);
    }

    fn remove(&mut self, place: &Place) -> Option<Live> {
        let live = self.objects.remove(place)?;
        for mark in live.marks() {
            self.part(mark, |part| {
                part.places.remove(place);
            });
        }
        Some(live)
    }

    fn lost(&mut self, place: &Place, applied: u64, last: &Live) {
        for mark in last.marks() {
            let part = self.of.entry(mark.clone()).or_default();
            part.gone.insert(place.clone(), applied);
        }
    }

    fn part(&mut self, mark: &str, change: impl FnOnce(&mut Part)) {
        let Some(part) = self.of.get_mut(mark) else {
            return;
        };
        change(part);
        if part.places.is_empty() && part.gone.is_empty() {
            self.of.remove(mark);
        }
    }
}

impl Shelf {
    pub(crate) fn new(resource: Arc<Resource>, namespace: Option<String>) -> Self {
        Self {
            resource,
            namespace,
            state: watch::Sender::new(State::Unknown),
            content: Mutex::default(),
        }
    }

    /// The objects that concern `mark`, and those that are `wanted`.
    pub(crate) fn select(&self, mark: &str, wanted: &[&ObjectKey]) -> Vec<(ObjectKey, Live)> {
        let content = lock(&self.content);
        let part = content.of.get(mark);
        let mut places: BTreeSet<_> = part.map(|part| part.places.clone()).unwrap_or_default();
        places.extend(wanted.iter().map(|key| Place::of(key)));
        let seen = places
            .into_iter()
            .filter_map(|place| Some((self.key(&place), content.objects.get(&place)?.clone())));
        seen.collect()
    }

    /// What was applied to the objects of `mark` that somebody else removed.
    pub(crate) fn gone(&self, mark: &str) -> Vec<(ObjectKey, u64)> {
        let content = lock(&self.content);
        let gone = content.of.get(mark).map(|part| part.gone.iter());
        let keyed = gone.into_iter().flatten();
        keyed
            .map(|(place, applied)| (self.key(place), *applied))
            .collect()
    }

    /// Forgets what somebody removed of a set, except for what is `wanted`.
    pub(crate) fn tidy(&self, mark: &str, wanted: &[&ObjectKey]) {
        let wanted: BTreeSet<_> = wanted.iter().map(|key| Place::of(key)).collect();
        lock(&self.content).part(mark, |part| {
            part.gone.retain(|place, _| wanted.contains(place));
        });
    }

    fn key(&self, place: &Place) -> ObjectKey {
        self.resource.key(place.namespace.as_deref(), &place.name)
    }

    /// Puts in a state unless a later one is known. Says whether others changed something of ours.
    pub(crate) fn put(&self, place: Place, mut live: Live) -> bool {
        let mut content = lock(&self.content);
        if let Some(known) = content.objects.get(&place) {
            if known.revision == live.revision && live.accepted.is_some() {
                // The watch was quicker than the answer to our own write.
                content.insert(place, live);
                return false;
            }
            if !live.is_newer_than(&known.revision) {
                return false;
            }
            if known.uid == live.uid && known.seal == live.seal {
                live.accepted = live.accepted.or(known.accepted);
            }
        }
        if live.is_untouched() {
            live.managers = None;
        }
        let touched = !live.is_untouched() || live.leaving;
        content.insert(place, live);
        touched
    }

    /// The marks that the object had so far and has no more in `live`: whom somebody robs of it.
    pub(crate) fn robbed(&self, place: &Place, live: &Live) -> Vec<Arc<str>> {
        let content = lock(&self.content);
        let Some(known) = content.objects.get(place) else {
            return Vec::new();
        };
        let stays = |mark: &&Arc<str>| live.marks().any(|still| still == *mark);
        let lost = known.marks().filter(|mark| !stays(mark));
        lost.filter(|_| live.is_newer_than(&known.revision))
            .cloned()
            .collect()
    }

    /// Takes out what we deleted.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        let (mut content, place) = (lock(&self.content), Place::of(key));
        if let Some(live) = content.remove(&place) {
            for mark in live.marks() {
                content.part(mark, |part| {
                    part.gone.remove(&place);
                });
            }
        }
    }

    /// Takes out an object that is gone, unless a later state is known.
    pub(crate) fn take(&self, place: &Place, last: &Live) -> bool {
        let mut content = lock(&self.content);
        let known = content.objects.get(place);
        if known.is_none_or(|known| known.is_newer_than(&last.revision)) {
            return false;
        }
        content.remove(place);
        if let Some(seal) = last.seal {
            content.lost(place, seal.content, last);
        }
        true
    }

    /// Makes the content what a list says, except for states later than the list. Says whose
    /// objects others changed.
    pub(crate) fn replace(
        &self,
        listed: BTreeMap<Place, Live>,
        revision: &str,
    ) -> BTreeSet<Arc<str>> {
        let missing: Vec<_> = {
            let content = lock(&self.content);
            let known = content.objects.iter();
            let missing = known.filter(|(place, live)| {
                !listed.contains_key(*place) && !live.is_newer_than(revision)
            });
            missing
                .map(|(place, live)| (place.clone(), live.clone()))
                .collect()
        };
        let mut touched = BTreeSet::new();
        for (place, live) in missing {
            if self.take(&place, &live) {
                touched.extend(live.marks().cloned());
            }
        }
        for (place, live) in listed {
            touched.extend(self.robbed(&place, &live));
            let marks: Vec<_> = live.marks().cloned().collect();
            if self.put(place, live) {
                touched.extend(marks);
            }
        }
        touched
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
