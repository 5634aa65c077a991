//! Who depends on whom: which objects name a uid among their owners.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use serde_json::Value;

use super::lock;
use crate::meta;
use crate::store::{Key, Object, ResourceId, Store};

/// Dependents by the uid of their owner.
///
/// Notes are only added when objects are written, and dropped when somebody looks and finds them
/// outdated, so that concurrent writers cannot lose one.
#[derive(Debug, Default)]
pub(super) struct Owners(Mutex<HashMap<String, BTreeSet<(ResourceId, Key)>>>);

/// An object that depends on another.
#[derive(Debug)]
pub(super) struct Dependent {
    pub(super) resource: ResourceId,
    pub(super) key: Key,
    pub(super) object: Object,
}

impl Owners {
    /// Takes note of the owners that an object names.
    pub(super) fn note(&self, resource: &ResourceId, key: &Key, object: &Value) {
        let owners = meta::owners(object);
        if owners.is_empty() {
            return;
        }
        let mut notes = lock(&self.0);
        for uid in owners.iter().filter_map(|owner| owner["uid"].as_str()) {
            let noted = notes.entry(uid.to_owned()).or_default();
            noted.insert((resource.clone(), key.clone()));
        }
    }

    /// The live objects that name `uid` among their owners.
    pub(super) fn dependents(&self, store: &Store, uid: &str) -> Vec<Dependent> {
        let mut notes = lock(&self.0);
        let Some(noted) = notes.get_mut(uid) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        noted.retain(|(resource, key)| {
            let live = store
                .get(resource, key)
                .filter(|object| names(object, uid).is_some());
            let Some(object) = live else { return false };
            found.push(Dependent {
                resource: resource.clone(),
                key: key.clone(),
                object,
            });
            true
        });
        if noted.is_empty() {
            notes.remove(uid);
        }
        found
    }

    /// Drops the notes of an object that has gone.
    pub(super) fn forget(&self, store: &Store, resource: &ResourceId, key: &Key, object: &Value) {
        let mut notes = lock(&self.0);
        if store.get(resource, key).is_some() {
            return;
        }
        for uid in meta::owners(object)
            .iter()
            .filter_map(|owner| owner["uid"].as_str())
        {
            let Some(noted) = notes.get_mut(uid) else {
                continue;
            };
            noted.remove(&(resource.clone(), key.clone()));
            if noted.is_empty() {
                notes.remove(uid);
            }
        }
    }
}

/// The reference by which an object names `uid` as its owner.
pub(super) fn names<'a>(object: &'a Value, uid: &str) -> Option<&'a Value> {
    meta::owners(object)
        .iter()
        .find(|owner| owner["uid"] == *uid)
}
