//! What somebody wants to exist.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::{Debug, Display};

/// Identifies one thing in desired state and in the world alike.
///
/// Implemented by every type that can be ordered, cloned, shown and shared.
pub trait Key: Ord + Clone + Debug + Display + Send + Sync {}

impl<T: Ord + Clone + Debug + Display + Send + Sync> Key for T {}

/// The place of a thing in the order of work: lower ranks are made first and deleted last; things
/// of one rank are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rank(pub i32);

/// Tells how a live thing differs from what is wanted of it.
pub trait Matches<Live> {
    /// A short description of the difference; `None` when `live` is as wanted.
    ///
    /// Only what the caller owns counts: fields that the server defaults, or that others set, are
    /// no difference.
    fn difference(&self, live: &Live) -> Option<String>;
}

/// One wanted thing: what it should be, which version of the desired state says so, and where it
/// stands in the order of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted<I, V> {
    /// What the thing should be.
    pub item: I,
    /// The version of desired state that this belongs to.
    pub version: V,
    /// The place in the order of work.
    pub rank: Rank,
}

impl<I, V> Wanted<I, V> {
    /// `item` as `version` wants it, at the default rank.
    pub fn new(item: I, version: V) -> Self {
        Self {
            item,
            version,
            rank: Rank::default(),
        }
    }

    /// The same at another place in the order of work.
    #[must_use]
    pub fn ranked(mut self, rank: Rank) -> Self {
        self.rank = rank;
        self
    }
}

/// The complete desired state: either some things, or nothing *on purpose*.
///
/// An empty set of things is taken for an accident (a render that failed, a list that came back
/// empty) and never leads to a delete; whoever wants everything gone says so with
/// [`Desired::Nothing`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Desired<K, I, V> {
    /// These things and no others.
    Things(Things<K, I, V>),
    /// Nothing at all, because somebody asked for that.
    Nothing {
        /// Who or what asked, for people to read: "stack 42 was deleted".
        because: String,
    },
}

/// A set of wanted things with one entry for each key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Things<K, I, V>(pub(crate) BTreeMap<K, Wanted<I, V>>);

/// The same key was wanted twice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is wanted twice")]
pub struct Duplicate<K: Debug + Display> {
    /// The key in question.
    pub key: K,
}

impl<K: Key, I, V> Desired<K, I, V> {
    /// The desired state that consists of `things`; a key may occur only once.
    pub fn things(
        things: impl IntoIterator<Item = (K, Wanted<I, V>)>,
    ) -> Result<Self, Duplicate<K>> {
        let mut set = BTreeMap::new();
        for (key, wanted) in things {
            match set.entry(key) {
                Entry::Vacant(place) => place.insert(wanted),
                Entry::Occupied(taken) => {
                    return Err(Duplicate {
                        key: taken.key().clone(),
                    });
                }
            };
        }
        Ok(Self::Things(Things(set)))
    }

    /// The desired state that consists of one thing.
    pub fn one(key: K, wanted: Wanted<I, V>) -> Self {
        Self::Things(Things(BTreeMap::from([(key, wanted)])))
    }

    /// Nothing, on purpose.
    pub fn nothing(because: impl Into<String>) -> Self {
        Self::Nothing {
            because: because.into(),
        }
    }

    /// What is wanted, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Wanted<I, V>)> {
        match self {
            Self::Things(things) => Some(things.0.iter()),
            Self::Nothing { .. } => None,
        }
        .into_iter()
        .flatten()
    }

    /// What is wanted under `key`.
    pub fn get(&self, key: &K) -> Option<&Wanted<I, V>> {
        match self {
            Self::Things(things) => things.0.get(key),
            Self::Nothing { .. } => None,
        }
    }

    /// How many things are wanted.
    pub fn len(&self) -> usize {
        match self {
            Self::Things(things) => things.0.len(),
            Self::Nothing { .. } => 0,
        }
    }

    /// Whether nothing is wanted, on purpose or not.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it holds no thing, yet nobody said that this is on purpose.
    pub fn is_empty_by_accident(&self) -> bool {
        matches!(self, Self::Things(things) if things.0.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_may_be_wanted_only_once() {
        let twice = [("a", Wanted::new(1, 1)), ("a", Wanted::new(2, 1))];
        assert_eq!(Desired::things(twice), Err(Duplicate { key: "a" }));
    }

    #[test]
    fn nothing_is_on_purpose_only_when_said_so() {
        let accident: Desired<&str, (), ()> = Desired::things([]).unwrap();
        let purpose: Desired<&str, (), ()> = Desired::nothing("the stack was deleted");
        assert!(accident.is_empty_by_accident());
        assert!(!purpose.is_empty_by_accident());
        assert_eq!(purpose.iter().count(), 0);
    }
}
