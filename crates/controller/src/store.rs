//! The objects of one kind as far as they are known, and what changed when something came in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube::Resource;

use crate::key::{Key, Revision};

/// One object before and after.
#[derive(Debug)]
pub(crate) struct Change<T> {
    pub(crate) key: Key,
    pub(crate) before: Option<Arc<T>>,
    pub(crate) after: Option<Arc<T>>,
    /// Whether a list told of it, and nobody knows when it happened.
    pub(crate) listed: bool,
}

/// A list that is older than what is known already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server answered with revision {}, but {} was seen before", .listed.get(), .known.get())]
pub(crate) struct Backwards {
    pub(crate) listed: Revision,
    pub(crate) known: Revision,
}

/// The objects of one kind. Nothing in it ever gets older.
#[derive(Debug)]
pub(crate) struct Store<T> {
    objects: BTreeMap<Key, Arc<T>>,
    by_owner: BTreeMap<String, BTreeSet<Key>>,
    revision: Option<Revision>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            by_owner: BTreeMap::new(),
            revision: None,
        }
    }
}

impl<T: Resource> Store<T> {
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<T>> {
        self.objects.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &Arc<T>)> {
        self.objects.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The objects that the owner with the id `uid` controls.
    pub(crate) fn controlled_by(&self, uid: &str) -> impl Iterator<Item = &Arc<T>> {
        let keys = self.by_owner.get(uid).into_iter().flatten();
        keys.filter_map(|key| self.objects.get(key))
    }

    /// Up to where everything is known.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// Nothing older than `revision` is to come.
    pub(crate) fn reached(&mut self, revision: Option<Revision>) {
        self.revision = self.revision.max(revision);
    }

    /// A watch tells that an object was created or changed.
    pub(crate) fn put(&mut self, object: T) -> Option<Change<T>> {
        self.is_news(&object).then(|| self.insert(object)).flatten()
    }

    /// A watch tells that an object was deleted; `last` is its last state.
    pub(crate) fn take(&mut self, last: &T) -> Option<Change<T>> {
        let key = Key::of(last);
        let known = self.is_news(last) && self.objects.contains_key(&key);
        known.then(|| self.set(key, None))
    }

    /// Watches tell things in order, so what is not later than all that came before is an echo.
    fn is_news(&mut self, object: &T) -> bool {
        let revision = Revision::of(object);
        let is_news = revision.is_none() || revision > self.revision;
        self.reached(revision);
        is_news
    }

    fn insert(&mut self, object: T) -> Option<Change<T>> {
        let key = Key::of(&object);
        let known = self.objects.get(&key);
        let is_news = known.is_none_or(|known| is_newer(&object, known));
        is_news.then(|| self.set(key, Some(object)))
    }

    /// Everything that exists was listed. What is not in the list is gone, and told as such.
    pub(crate) fn replace(
        &mut self,
        listed: Vec<T>,
        revision: Option<Revision>,
    ) -> Result<Vec<Change<T>>, Backwards> {
        if let (Some(listed), Some(known)) = (revision, self.revision)
            && listed < known
        {
            return Err(Backwards { listed, known });
        }
        self.reached(revision);
        let present: BTreeSet<_> = listed.iter().map(Key::of).collect();
        let gone: Vec<_> = self.objects.keys().cloned().collect();
        let gone = gone.into_iter().filter(|key| !present.contains(key));
        let mut changes: Vec<_> = gone.map(|key| self.set(key, None)).collect();
        changes.extend(listed.into_iter().filter_map(|object| self.insert(object)));
        changes.iter_mut().for_each(|change| change.listed = true);
        Ok(changes)
    }

    /// Forgets how far it was, so that any list is believed: the server itself went back.
    pub(crate) fn believe_anything(&mut self) {
        self.revision = None;
        self.objects.clear();
        self.by_owner.clear();
    }

    fn set(&mut self, key: Key, after: Option<T>) -> Change<T> {
        let after = after.map(|mut object| {
            object.meta_mut().managed_fields = None;
            Arc::new(object)
        });
        let before = match &after {
            Some(object) => self.objects.insert(key.clone(), Arc::clone(object)),
            None => self.objects.remove(&key),
        };
        self.unlist(&key, before.as_deref());
        if let Some(uid) = after.as_deref().and_then(controller_uid) {
            let owned = self.by_owner.entry(uid.to_owned()).or_default();
            owned.insert(key.clone());
        }
        Change {
            key,
            before,
            after,
            listed: false,
        }
    }

    fn unlist(&mut self, key: &Key, before: Option<&T>) {
        let Some(uid) = before.and_then(controller_uid) else {
            return;
        };
        if let Some(owned) = self.by_owner.get_mut(uid) {
            owned.remove(key);
            if owned.is_empty() {
                self.by_owner.remove(uid);
            }
        }
    }
}

/// The id of the owner that controls an object.
fn controller_uid<T: Resource>(object: &T) -> Option<&str> {
    let owners = object.meta().owner_references.as_deref()?;
    let controller = owners.iter().find(|owner| owner.controller == Some(true))?;
    Some(&controller.uid)
}

/// Whether `object` is a later state than `known`; in doubt it is.
fn is_newer<T: Resource>(object: &T, known: &T) -> bool {
    match (Revision::of(object), Revision::of(known)) {
        (Some(new), Some(old)) => new > old,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use proptest::prelude::*;

    use super::*;

    fn map(name: &str, uid: u64, revision: u64) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.to_owned());
        map.metadata.uid = Some(uid.to_string());
        map.metadata.resource_version = Some(revision.to_string());
        map
    }

    fn names(changes: &[Change<ConfigMap>]) -> Vec<(String, bool)> {
        let told = |change: &Change<_>| (change.key.to_string(), change.after.is_some());
        changes.iter().map(told).collect()
    }

    #[test]
    fn a_list_tells_of_what_vanished() {
        let mut store = Store::default();
        store
            .replace(vec![map("a", 1, 1), map("b", 2, 2)], Revision::parse("2"))
            .unwrap();
        let changes = store.replace(vec![map("b", 2, 2), map("c", 3, 4)], Revision::parse("4"));
        let expected = [("a".to_owned(), false), ("c".to_owned(), true)];
        assert_eq!(names(&changes.unwrap()), expected);
    }

    #[test]
    fn a_list_from_the_past_is_refused() {
        let mut store = Store::default();
        store.put(map("a", 1, 9));
        let refused = store.replace(vec![], Revision::parse("8")).unwrap_err();
        assert!(refused.to_string().contains("revision 8, but 9 was seen"));
        assert_eq!(store.len(), 1);
    }

    #[test]
    fn a_late_word_of_an_earlier_life_changes_nothing() {
        let mut store = Store::default();
        store.put(map("a", 2, 7));
        assert!(store.take(&map("a", 1, 5)).is_none());
        assert!(store.put(map("a", 1, 4)).is_none());
        assert_eq!(
            store
                .get(&Key::cluster_wide("a"))
                .unwrap()
                .metadata
                .uid
                .as_deref(),
            Some("2")
        );
    }

    #[test]
    fn what_an_owner_controls_is_found_without_a_search() {
        let owned = |revision, uid: &str| {
            let mut map = map("a", 1, revision);
            let owner = k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference {
                controller: Some(true),
                uid: uid.to_owned(),
                ..Default::default()
            };
            map.metadata.owner_references = Some(vec![owner]);
            map
        };
        let mut store = Store::default();
        store.put(owned(1, "one"));
        assert_eq!(store.controlled_by("one").count(), 1);
        store.put(owned(2, "two"));
        assert_eq!(store.controlled_by("one").count(), 0);
        assert_eq!(store.controlled_by("two").count(), 1);
        store.take(&owned(3, "two"));
        assert!(store.by_owner.is_empty());
    }

    proptest! {
        /// Whatever comes, in whatever order: no object ever gets older.
        #[test]
        fn nothing_gets_older(
            story in prop::collection::vec((0_u64..3, 1_u64..4, 1_u64..50, any::<bool>()), 1..60),
        ) {
            let mut store = Store::default();
            let mut newest = BTreeMap::new();
            for (name, uid, revision, deleted) in story {
                let object = map(&name.to_string(), uid, revision);
                if deleted { store.take(&object); } else { store.put(object); }
                for (key, known) in store.iter() {
                    let now = Revision::of(&**known);
                    let before = newest.insert(key.clone(), now).flatten();
                    prop_assert!(store.revision() >= now);
                    prop_assert!(before.is_none() || now >= before);
                }
            }
        }
    }
}
