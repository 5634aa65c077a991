//! Who refers to what, found without a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::key::Key;

/// An index that listeners and runs share.
pub(crate) type SharedIndex = Arc<Mutex<Index>>;

/// `referrer` refers to exactly these now.
pub(crate) fn set_references(index: &SharedIndex, referrer: &Key, references: BTreeSet<Key>) {
    let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
    index.set(referrer, references);
}

/// References and, the other way round, referrers.
#[derive(Debug, Default)]
pub(crate) struct Index {
    references: BTreeMap<Key, BTreeSet<Key>>,
    referrers: BTreeMap<Key, BTreeSet<Key>>,
}

impl Index {
    /// `referrer` refers to exactly these now.
    pub(crate) fn set(&mut self, referrer: &Key, references: BTreeSet<Key>) {
        let earlier = self.references.remove(referrer).unwrap_or_default();
        for dropped in earlier.difference(&references) {
            self.drop_referrer(dropped, referrer);
        }
        for added in references.difference(&earlier) {
            let referrers = self.referrers.entry(added.clone()).or_default();
            referrers.insert(referrer.clone());
        }
        if !references.is_empty() {
            self.references.insert(referrer.clone(), references);
        }
    }

    fn drop_referrer(&mut self, reference: &Key, referrer: &Key) {
        if let Some(referrers) = self.referrers.get_mut(reference) {
            referrers.remove(referrer);
            if referrers.is_empty() {
                self.referrers.remove(reference);
            }
        }
    }

    /// Who refers to `reference`, whether or not it exists.
    pub(crate) fn referrers(&self, reference: &Key) -> impl Iterator<Item = &Key> {
        self.referrers.get(reference).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(number: u8) -> Key {
        Key::cluster_wide(number.to_string())
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_search(
            story in prop::collection::vec((0_u8..5, prop::collection::btree_set(0_u8..5, 0..4)), 1..40),
        ) {
            let mut index = Index::default();
            let mut truth: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
            for (referrer, references) in story {
                index.set(&key(referrer), references.iter().copied().map(key).collect());
                truth.insert(referrer, references);
                for reference in 0..5 {
                    let found: Vec<_> = index.referrers(&key(reference)).cloned().collect();
                    let searched = truth.iter().filter(|(_, to)| to.contains(&reference));
                    let searched: Vec<_> = searched.map(|(from, _)| key(*from)).collect();
                    prop_assert_eq!(found, searched);
                }
            }
            for referrer in 0..5 { index.set(&key(referrer), BTreeSet::new()); }
            prop_assert!(index.referrers.is_empty() && index.references.is_empty());
        }
    }
}
