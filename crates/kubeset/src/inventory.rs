//! Which objects a set may have in the cluster, written down in the cluster itself.
//!
//! It lives in `ConfigMap`s rather than `Secret`s: names are no secrets, agents often may not read
//! Secrets, and nobody gains anything by editing it, since an object is deleted only if it also
//! carries its owner's mark. A chunk stays below 900 KB, well under the server's limit of 1 MiB;
//! an entry never moves from one chunk to another, so that no crash between two writes loses it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions};
use serde::{Deserialize, Serialize};

use crate::calls::Calls;
use crate::error::Error;
use crate::key::{GroupKind, ObjectKey};
use crate::owner::Owner;

const LABEL: &str = "evenkeel.io/inventory";
const ENTRIES: &str = "entries";
const PENDING: &str = "pending";
/// The most bytes of entries in one chunk.
const ROOM: usize = 900_000;

/// Which objects a set may have, with the uid of those that were made.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    /// It was made anew from a view with gaps, so more may exist than it lists.
    pending: bool,
    chunks: Vec<Chunk>,
    places: BTreeMap<ObjectKey, usize>,
}

/// One `ConfigMap`; empty ones are deleted and their places used again.
#[derive(Debug, Default)]
struct Chunk {
    /// The revision last seen; `None` while it does not exist.
    revision: Option<String>,
    entries: BTreeMap<ObjectKey, Option<String>>,
    size: usize,
    dirty: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    key: ObjectKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
}

/// What was found of an inventory.
#[derive(Debug)]
pub(crate) enum Found {
    /// The whole of it.
    Whole(Inventory),
    /// None, or one that cannot be read: what exists has to be looked for. Holds what could be
    /// read, so that it is overwritten and not duplicated.
    Lost(Inventory),
}

impl Inventory {
    pub(crate) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.places.keys()
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.keys().map(|key| &key.kind)
    }

    /// The uid of the object that was made for `key`.
    pub(crate) fn uid(&self, key: &ObjectKey) -> Option<&str> {
        let chunk = &self.chunks[*self.places.get(key)?];
        chunk.entries.get(key)?.as_deref()
    }

    /// Says whether more may exist than it lists, which the next process must know, too.
    pub(crate) fn set_pending(&mut self, pending: bool) {
        if self.pending != pending {
            self.pending = pending;
            self.chunks.iter_mut().for_each(|chunk| chunk.dirty = true);
        }
    }

    /// Adds `key`, if it is not listed.
    pub(crate) fn add(&mut self, key: &ObjectKey) {
        if self.places.contains_key(key) {
            return;
        }
        let need = size_of(key, None);
        let roomy = self
            .chunks
            .iter()
            .position(|chunk| chunk.size + need <= ROOM);
        let at = roomy.unwrap_or_else(|| {
            self.chunks.push(Chunk::default());
            self.chunks.len() - 1
        });
        self.chunks[at].put(key.clone(), None);
        self.places.insert(key.clone(), at);
    }

    /// Notes the uid of the object that was made for `key`.
    pub(crate) fn made(&mut self, key: &ObjectKey, uid: &str) {
        self.add(key);
        if self.uid(key) != Some(uid)
            && let Some(at) = self.places.get(key)
        {
            self.chunks[*at].put(key.clone(), Some(uid.to_owned()));
        }
    }

    /// Takes out what is gone.
    pub(crate) fn remove(&mut self, key: &ObjectKey) {
        if let Some(at) = self.places.remove(key) {
            self.chunks[at].take(key);
        }
    }

    /// Writes what changed since the last time.
    pub(crate) async fn write(&mut self, store: &Storage<'_>) -> Result<(), Error> {
        for (at, chunk) in self.chunks.iter_mut().enumerate() {
            if chunk.dirty {
                chunk.revision = store.put(at, chunk, self.pending).await?;
                chunk.dirty = false;
            }
        }
        Ok(())
    }
}

impl Chunk {
    fn put(&mut self, key: ObjectKey, uid: Option<String>) {
        self.take(&key);
        self.size += size_of(&key, uid.as_deref());
        self.entries.insert(key, uid);
        self.dirty = true;
    }

    fn take(&mut self, key: &ObjectKey) {
        if let Some(uid) = self.entries.remove(key) {
            self.size -= size_of(key, uid.as_deref());
            self.dirty = true;
        }
    }

    fn text(&self) -> String {
        let entries = self.entries.iter().map(|(key, uid)| Entry {
            key: key.clone(),
            uid: uid.clone(),
        });
        serde_json::to_string(&entries.collect::<Vec<_>>()).unwrap_or_default()
    }

    fn read(map: &ConfigMap) -> Option<Self> {
        let text = map.data.as_ref()?.get(ENTRIES)?;
        let entries: Vec<Entry> = serde_json::from_str(text).ok()?;
        let mut chunk = Self::default();
        for entry in entries {
            chunk.put(entry.key, entry.uid);
        }
        chunk.dirty = false;
        Some(chunk)
    }
}

/// An upper bound of what an entry takes; a uid is counted even before it is known, so that
/// learning it never overflows a chunk.
fn size_of(key: &ObjectKey, uid: Option<&str>) -> usize {
    const FRAME: usize = 60;
    let names = key.kind.group.len() + key.kind.kind.len() + key.name.len();
    FRAME + names + key.namespace.as_deref().map_or(0, str::len) + uid.map_or(36, str::len).max(36)
}

/// Where the inventory of one set is kept.
pub(crate) struct Storage<'s> {
    pub(crate) calls: &'s Calls,
    pub(crate) namespace: &'s str,
    pub(crate) owner: &'s Owner,
}

impl Storage<'_> {
    fn maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.calls.client.clone(), self.namespace)
    }

    fn name(&self, at: usize) -> String {
        // Owners may have capitals and underscores, names of objects may not.
        let digest = crate::fields::hash(self.owner.as_str());
        format!("evenkeel-inventory-{digest:016x}-{at}")
    }

    fn lost(&self, why: &str) -> Error {
        let owner = self.owner.to_string();
        Error::Inventory {
            owner,
            why: why.to_string(),
        }
    }

    /// What is written of the inventory.
    pub(crate) async fn find(&self) -> Result<Found, Error> {
        let selector = format!("{LABEL}={}", self.owner);
        let listed = self
            .maps()
            .list(&ListParams::default().labels(&selector))
            .await;
        let listed = listed.map_err(|error| Error::of_call("read the inventory", error))?;
        let mut maps: BTreeMap<_, _> = listed
            .items
            .into_iter()
            .map(|map| (map.metadata.name.clone(), map))
            .collect();
        let (mut found, mut whole) = (Inventory::default(), !maps.is_empty());
        for at in 0.. {
            if maps.is_empty() {
                break;
            }
            let mut chunk = Chunk::default();
            if let Some(map) = maps.remove(&Some(self.name(at))) {
                let read = Chunk::read(&map);
                let pending = map
                    .data
                    .as_ref()
                    .is_some_and(|data| data.contains_key(PENDING));
                found.pending |= pending;
                whole &= read.is_some() && !pending;
                chunk = read.unwrap_or_default();
                chunk.revision = map.metadata.resource_version;
            } else if at > 1_000 {
                break;
            }
            found
                .places
                .extend(chunk.entries.keys().map(|key| (key.clone(), at)));
            found.chunks.push(chunk);
        }
        Ok(if whole {
            Found::Whole(found)
        } else {
            Found::Lost(found)
        })
    }

    /// Writes one chunk, if it is still as we saw it; returns its new revision.
    async fn put(&self, at: usize, chunk: &Chunk, pending: bool) -> Result<Option<String>, Error> {
        let name = self.name(at);
        let how = PostParams::default();
        let written = match (&chunk.revision, chunk.entries.is_empty()) {
            (None, true) => return Ok(None),
            (Some(revision), true) => return self.drop(&name, revision).await,
            (None, false) => {
                self.maps()
                    .create(&how, &self.map(&name, chunk, pending))
                    .await
            }
            (Some(_), false) => {
                self.maps()
                    .replace(&name, &how, &self.map(&name, chunk, pending))
                    .await
            }
        };
        match written {
            Ok(map) => Ok(map.metadata.resource_version),
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {
                Err(self.lost(&status.message))
            }
            Err(error) => Err(Error::of_call("write the inventory", error)),
        }
    }

    async fn drop(&self, name: &str, revision: &str) -> Result<Option<String>, Error> {
        let resource_version = Some(revision.to_owned());
        let how = DeleteParams::default().preconditions(Preconditions {
            resource_version,
            uid: None,
        });
        match self.maps().delete(name, &how).await {
            Ok(_) => Ok(None),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(kube::Error::Api(status)) if status.code == 409 => Err(self.lost(&status.message)),
            Err(error) => Err(Error::of_call(
                "remove an empty part of the inventory",
                error,
            )),
        }
    }

    fn map(&self, name: &str, chunk: &Chunk, pending: bool) -> ConfigMap {
        let mut data = BTreeMap::from([(ENTRIES.to_owned(), chunk.text())]);
        if pending {
            data.insert(
                PENDING.to_owned(),
                "not everything could be seen when this was made anew".to_owned(),
            );
        }
        ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                resource_version: chunk.revision.clone(),
                labels: Some(BTreeMap::from([(LABEL.into(), self.owner.to_string())])),
                ..ObjectMeta::default()
            },
            data: Some(data),
            ..ConfigMap::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(at: usize) -> ObjectKey {
        ObjectKey::new(
            GroupKind::new("apps", "Deployment"),
            Some("some-namespace"),
            format!("{at:0>200}"),
        )
    }

    #[test]
    fn chunks_stay_below_their_limit_and_entries_where_they_are() {
        let mut inventory = Inventory::default();
        (0..9_000).for_each(|at| inventory.add(&key(at)));
        let places = inventory.places.clone();
        let uid = "0b1f4a3e-1111-2222-3333-444455556666";
        (0..9_000).for_each(|at| inventory.made(&key(at), uid));
        assert!(inventory.chunks.len() > 2);
        for chunk in &inventory.chunks {
            assert!(chunk.text().len() <= ROOM, "{}", chunk.text().len());
        }
        inventory.remove(&key(0));
        inventory.add(&key(10_000));
        assert_eq!(inventory.places[&key(10_000)], 0, "the room is used again");
        assert!((1..9_000).all(|at| inventory.places[&key(at)] == places[&key(at)]));
    }

    #[test]
    fn a_chunk_is_read_as_it_was_written() {
        let mut chunk = Chunk::default();
        chunk.put(key(1), Some("uid".into()));
        chunk.put(
            ObjectKey::new(GroupKind::new("", "Namespace"), None, "n"),
            None,
        );
        let data = BTreeMap::from([(ENTRIES.to_owned(), chunk.text())]);
        let map = ConfigMap {
            data: Some(data),
            ..ConfigMap::default()
        };
        let read = Chunk::read(&map).unwrap();
        assert_eq!((read.entries, read.size), (chunk.entries, chunk.size));
        let broken = ConfigMap {
            data: Some(BTreeMap::from([(ENTRIES.to_owned(), "[{".into())])),
            ..ConfigMap::default()
        };
        assert!(Chunk::read(&broken).is_none());
    }
}
