//! A record of what may exist, kept elsewhere, for worlds that cannot carry a mark.
//!
//! A key is *intended* before the first call that could create its thing, and *made* once the world
//! has given it an id. In between nobody knows whether the thing exists; the token that went with
//! the create finds it again.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::claim::{Claim, Evidence};
use crate::desired::Key;
use crate::ownership::Ownership;
use crate::snapshot::Recorded;

/// What may exist, by key. Plain data: whoever keeps it stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger<K: Ord, V>(BTreeMap<K, Entry<V>>);

impl<K: Ord, V> Default for Ledger<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// What the ledger says of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Entry<V> {
    /// It may exist.
    Intended {
        /// Since when.
        at: Timestamp,
    },
    /// It was made.
    Made {
        /// The id that the world gave it.
        id: String,
        /// The version that was written last.
        version: V,
        /// When.
        at: Timestamp,
    },
}

impl<K: Key, V: Clone> Ledger<K, V> {
    /// Notes that the things of `keys` may exist from now on.
    pub fn intend<'k>(&mut self, keys: impl IntoIterator<Item = &'k K>, now: Timestamp)
    where
        K: 'k,
    {
        let intended = keys
            .into_iter()
            .map(|key| (key.clone(), Entry::Intended { at: now }));
        self.0.extend(intended);
    }

    /// Notes that the thing of `key` has the id `id` and is at `version`.
    pub fn made(&mut self, key: K, id: impl Into<String>, version: V, now: Timestamp) {
        self.0.insert(
            key,
            Entry::Made {
                id: id.into(),
                version,
                at: now,
            },
        );
    }

    /// Strikes out what is gone.
    pub fn forget<'k>(&mut self, keys: impl IntoIterator<Item = &'k K>)
    where
        K: 'k,
    {
        for key in keys {
            self.0.remove(key);
        }
    }

    /// What it says of `key`.
    pub fn get(&self, key: &K) -> Option<&Entry<V>> {
        self.0.get(key)
    }

    /// The key and the version of the thing with the id `id`.
    pub fn find(&self, id: &str) -> Option<(&K, &V)> {
        self.0.iter().find_map(|(key, entry)| match entry {
            Entry::Made {
                id: made, version, ..
            } if made == id => Some((key, version)),
            Entry::Made { .. } | Entry::Intended { .. } => None,
        })
    }

    /// The record for a snapshot taken at `now` of a world that may take `window` to show what was
    /// done to it.
    pub fn record(
        &self,
        now: Timestamp,
        window: SignedDuration,
    ) -> impl Iterator<Item = (K, Recorded<V>)> {
        self.0
            .iter()
            .map(move |(key, entry)| (key.clone(), entry.recorded(now, window)))
    }
}

impl<V: Clone> Entry<V> {
    fn recorded(&self, now: Timestamp, window: SignedDuration) -> Recorded<V> {
        let until = |at: &Timestamp| at.saturating_add(window).unwrap_or(Timestamp::MAX);
        match self {
            Self::Intended { at } => Recorded::Settling { until: until(at) },
            Self::Made { at, .. } if now < until(at) => Recorded::Settling { until: until(at) },
            Self::Made { version, .. } => Recorded::Made {
                version: version.clone(),
            },
        }
    }
}

impl<K: Key, V: Clone> Claim for Ledger<K, V> {
    type Version = V;

    /// Ours is what the ledger lists by its id; nothing else can be told.
    fn ownership(&self, thing: &impl Evidence) -> Ownership<V> {
        match self.find(thing.id()) {
            Some((_, version)) => Ownership::mine_at(version.clone()),
            None => Ownership::Nobody,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: SignedDuration = SignedDuration::from_secs(30);

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn record(ledger: &Ledger<&'static str, u8>, now: i64) -> Vec<(&'static str, Recorded<u8>)> {
        ledger.record(second(now), WINDOW).collect()
    }

    #[test]
    fn what_was_intended_is_not_believed_to_be_absent_at_once() {
        let mut ledger = Ledger::default();
        ledger.intend([&"a"], second(0));
        assert_eq!(
            record(&ledger, 0),
            [("a", Recorded::Settling { until: second(30) })]
        );
    }

    #[test]
    fn what_was_made_is_believed_to_be_absent_after_the_window() {
        let mut ledger = Ledger::default();
        ledger.made("a", "id-1", 7, second(0));
        assert_eq!(
            record(&ledger, 29),
            [("a", Recorded::Settling { until: second(30) })]
        );
        assert_eq!(record(&ledger, 30), [("a", Recorded::Made { version: 7 })]);
    }

    #[test]
    fn things_are_found_by_id_until_they_are_forgotten() {
        let mut ledger = Ledger::default();
        ledger.made("a", "id-1", 7, second(0));
        assert_eq!(ledger.find("id-1"), Some((&"a", &7)));
        ledger.forget([&"a"]);
        assert_eq!(ledger.find("id-1"), None);
    }

    #[test]
    fn it_survives_being_stored() {
        let mut ledger = Ledger::default();
        ledger.intend([&"a".to_owned()], second(1));
        ledger.made("b".to_owned(), "id-2", 7, second(2));
        let stored = serde_json::to_string(&ledger).unwrap();
        assert_eq!(
            serde_json::from_str::<Ledger<String, u8>>(&stored).unwrap(),
            ledger
        );
    }
}
