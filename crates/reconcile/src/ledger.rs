//! A record of what may exist, kept elsewhere, for worlds that cannot carry a mark.
//!
//! A key is *intended* before the first call that could create its thing, and *made* once the world
//! has given it an id. In between nobody knows whether the thing exists; a token or name that went
//! with the create finds it again.

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
        /// The id of the thing that was made for this key before, which may exist as well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        earlier: Option<String>,
    },
    /// It was made.
    Made {
        /// When.
        at: Timestamp,
        /// The id that the world gave it.
        id: String,
        /// The version that was written last.
        version: V,
    },
}

impl<V> Entry<V> {
    /// The id of the thing that was last made for the key.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Intended { earlier, .. } => earlier.as_deref(),
            Self::Made { id, .. } => Some(id),
        }
    }

    fn version(&self) -> Option<&V> {
        match self {
            Self::Intended { .. } => None,
            Self::Made { version, .. } => Some(version),
        }
    }
}

impl<V: Clone> Entry<V> {
    fn recorded(&self, now: Timestamp, window: SignedDuration) -> Recorded<V> {
        let until = |at: &Timestamp| at.saturating_add(window).unwrap_or(Timestamp::MAX);
        match self {
            Self::Intended { at, .. } => Recorded::Settling { until: until(at) },
            Self::Made { at, .. } if now < until(at) => Recorded::Settling { until: until(at) },
            Self::Made { version, .. } => Recorded::Made {
                version: version.clone(),
            },
        }
    }
}

impl<K: Key, V: Clone> Ledger<K, V> {
    /// Notes that the thing of `key` may exist from now on.
    pub fn intend(&mut self, key: &K, now: Timestamp) {
        let earlier = self.0.get(key).and_then(Entry::id).map(str::to_owned);
        self.0
            .insert(key.clone(), Entry::Intended { at: now, earlier });
    }

    /// Notes that the thing of `key` has the id `id` and is at `version`.
    pub fn made(&mut self, key: &K, id: impl Into<String>, version: V, now: Timestamp) {
        self.0.insert(
            key.clone(),
            Entry::Made {
                at: now,
                id: id.into(),
                version,
            },
        );
    }

    /// Strikes out what is gone.
    pub fn forget(&mut self, key: &K) {
        self.0.remove(key);
    }

    /// What it says of `key`.
    pub fn get(&self, key: &K) -> Option<&Entry<V>> {
        self.0.get(key)
    }

    /// Everything it lists by the ids that the world gave out.
    pub fn by_id(&self) -> ById<'_, K, V> {
        let listed = self
            .0
            .iter()
            .filter_map(|(key, entry)| Some((entry.id()?, (key, entry))));
        ById(listed.collect())
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

/// A ledger by the ids that the world gave out: the proof of what is ours.
#[derive(Debug)]
pub struct ById<'l, K, V>(BTreeMap<&'l str, (&'l K, &'l Entry<V>)>);

impl<K, V> ById<'_, K, V> {
    /// The key of the thing with the id `id`.
    pub fn key(&self, id: &str) -> Option<&K> {
        self.0.get(id).map(|(key, _)| *key)
    }
}

impl<K, V: Clone> Claim for ById<'_, K, V> {
    type Version = V;

    /// Ours is what the ledger lists; of anything else nobody can tell.
    fn ownership(&self, thing: &impl Evidence) -> Ownership<V> {
        match self.0.get(thing.id()) {
            Some((_, entry)) => Ownership::Mine {
                version: entry.version().cloned(),
            },
            None => Ownership::Nobody,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: SignedDuration = SignedDuration::from_secs(30);

    struct Thing(&'static str);

    impl Evidence for Thing {
        fn id(&self) -> &str {
            self.0
        }

        fn name(&self) -> &str {
            "anything"
        }
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn record(ledger: &Ledger<&'static str, u8>, now: i64) -> Vec<(&'static str, Recorded<u8>)> {
        ledger.record(second(now), WINDOW).collect()
    }

    #[test]
    fn what_was_intended_is_not_believed_to_be_absent_at_once() {
        let mut ledger = Ledger::default();
        ledger.intend(&"a", second(0));
        assert_eq!(
            record(&ledger, 0),
            [("a", Recorded::Settling { until: second(30) })]
        );
    }

    #[test]
    fn what_was_made_is_believed_to_be_absent_after_the_window() {
        let mut ledger = Ledger::default();
        ledger.made(&"a", "id-1", 7, second(0));
        assert_eq!(
            record(&ledger, 29),
            [("a", Recorded::Settling { until: second(30) })]
        );
        assert_eq!(record(&ledger, 30), [("a", Recorded::Made { version: 7 })]);
    }

    #[test]
    fn things_are_ours_by_id_until_they_are_forgotten() {
        let mut ledger = Ledger::default();
        ledger.made(&"a", "id-1", 7, second(0));
        assert_eq!(
            ledger.by_id().ownership(&Thing("id-1")),
            Ownership::mine_at(7)
        );
        assert_eq!(ledger.by_id().ownership(&Thing("id-2")), Ownership::Nobody);
        ledger.forget(&"a");
        assert_eq!(ledger.by_id().ownership(&Thing("id-1")), Ownership::Nobody);
    }

    #[test]
    fn intending_a_key_anew_does_not_lose_its_earlier_thing() {
        let mut ledger = Ledger::default();
        ledger.made(&"a", "id-1", 7, second(0));
        ledger.intend(&"a", second(1));
        assert_eq!(
            ledger.by_id().ownership(&Thing("id-1")),
            Ownership::Mine { version: None }
        );
        assert_eq!(ledger.by_id().key("id-1"), Some(&"a"));
    }

    #[test]
    fn it_survives_being_stored() {
        let mut ledger = Ledger::default();
        ledger.intend(&"a".to_owned(), second(1));
        ledger.made(&"b".to_owned(), "id-2", 7, second(2));
        let stored = serde_json::to_string(&ledger).unwrap();
        assert_eq!(
            serde_json::from_str::<Ledger<String, u8>>(&stored).unwrap(),
            ledger
        );
    }
}
