//! What was seen of the world, and how much of it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::{self, Display};

use jiff::Timestamp;

use crate::desired::{Key, Rank};
use crate::ownership::Ownership;

/// One thing as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed<L, V> {
    /// The thing itself, with whatever an update or delete needs as its precondition.
    pub live: L,
    /// Whose it is.
    pub ownership: Ownership<V>,
    /// The place in the order of work; deletes go in reverse.
    pub rank: Rank,
    /// What stands between the thing and its deletion.
    pub guard: Guard,
    /// Whether its deletion was asked for and is not finished.
    pub leaving: bool,
    /// Who else changes it again and again, so that a repair is better left for a while.
    pub contention: Option<Contention>,
}

/// A thing that we and somebody else change in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contention {
    /// Over what and with whom, for people to read: "/spec/replicas with the scaler".
    pub over: String,
    /// From when on it is worth another try.
    pub until: Timestamp,
}

impl Display for Contention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it is fought over: {}; left alone until {}",
            self.over, self.until
        )
    }
}

impl<L, V> Observed<L, V> {
    /// `live`, owned as `ownership` says, at the default rank and without a guard.
    pub fn new(live: L, ownership: Ownership<V>) -> Self {
        let (rank, guard) = (Rank::default(), Guard::Open);
        Self {
            live,
            ownership,
            rank,
            guard,
            leaving: false,
            contention: None,
        }
    }

    /// The same at another place in the order of work.
    #[must_use]
    pub fn ranked(mut self, rank: Rank) -> Self {
        self.rank = rank;
        self
    }

    /// The same behind a guard.
    #[must_use]
    pub fn guarded(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }

    /// The same while somebody else changes it, too.
    #[must_use]
    pub fn contended(mut self, contention: Option<Contention>) -> Self {
        self.contention = contention;
        self
    }

    /// The same on its way out.
    #[must_use]
    pub fn leaving(mut self) -> Self {
        self.leaving = true;
        self
    }
}

/// What stands between a thing of ours and its deletion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Guard {
    /// Nothing.
    #[default]
    Open,
    /// It stays in the world when it is no longer wanted, and we let go of it.
    KeepOnDelete,
    /// Others keep it, too: when we no longer want it, we do nothing at all.
    LeaveAlone,
    /// It is never deleted, not even with approval.
    Protected,
    /// It is deleted only with approval.
    Confirm {
        /// Why, for people to read: "the namespace holds 3 objects of others".
        why: String,
    },
}

/// How much of the world a snapshot shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Completeness {
    /// Everything that could be ours or be in our way.
    #[default]
    Complete,
    /// Not everything: what is absent may exist all the same. Nothing is deleted on such a view.
    Partial(Gaps),
}

/// What a partial snapshot does not show; at least one gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gaps(Vec<Gap>);

impl Display for Gaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, gap) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{} ({})", gap.what, gap.why)?;
        }
        Ok(())
    }
}

/// One part of the world that was not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What is missing: "list of Services".
    pub what: String,
    /// Why: "403 Forbidden".
    pub why: String,
}

/// What our own record says of a key. A record exists where the world keeps one; it is what finds
/// things again whose creation was never confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded<V> {
    /// It may exist: we meant to create it.
    Intended,
    /// It may exist although it cannot be seen yet: it was created, or perhaps created, and the
    /// world needs until then to show it.
    Settling {
        /// Before this moment "not found" is not believed.
        until: Timestamp,
    },
    /// It was made and seen at this version.
    Made {
        /// The version of desired state that was written last.
        version: V,
    },
}

/// What was seen of the world at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot<K, L, V> {
    pub(crate) things: BTreeMap<K, Observed<L, V>>,
    pub(crate) extra: BTreeMap<K, Vec<Observed<L, V>>>,
    pub(crate) record: Option<BTreeMap<K, Recorded<V>>>,
    completeness: Completeness,
}

impl<K, L, V> Default for Snapshot<K, L, V> {
    fn default() -> Self {
        Self {
            things: BTreeMap::new(),
            extra: BTreeMap::new(),
            record: None,
            completeness: Completeness::Complete,
        }
    }
}

impl<K: Key, L, V> Snapshot<K, L, V> {
    /// A complete view of a world in which nothing exists and no record is kept.
    pub fn new() -> Self {
        Self::default()
    }

    /// A complete view of `things`.
    pub fn of(things: impl IntoIterator<Item = (K, Observed<L, V>)>) -> Self {
        let mut snapshot = Self::new();
        for (key, thing) in things {
            snapshot.saw(key, thing);
        }
        snapshot
    }

    /// Adds a thing. Where two things claim one key, as can happen when the server gives out the
    /// ids, the first one counts (add the recorded or the oldest one first) and the others are
    /// reported as duplicates and left alone.
    pub fn saw(&mut self, key: K, thing: Observed<L, V>) {
        match self.things.entry(key) {
            Entry::Vacant(place) => {
                place.insert(thing);
            }
            Entry::Occupied(taken) => {
                self.extra
                    .entry(taken.key().clone())
                    .or_default()
                    .push(thing);
            }
        }
    }

    /// Says that `what` could not be seen, which makes the view partial.
    pub fn missed(&mut self, what: impl Into<String>, why: impl Display) {
        let gap = Gap {
            what: what.into(),
            why: why.to_string(),
        };
        match &mut self.completeness {
            Completeness::Partial(gaps) => gaps.0.push(gap),
            whole @ Completeness::Complete => *whole = Completeness::Partial(Gaps(vec![gap])),
        }
    }

    /// Says what our record holds, for worlds that keep one (also when it holds nothing).
    #[must_use]
    pub fn with_record(mut self, record: impl IntoIterator<Item = (K, Recorded<V>)>) -> Self {
        self.record = Some(record.into_iter().collect());
        self
    }

    /// How much of the world this shows.
    pub fn completeness(&self) -> &Completeness {
        &self.completeness
    }

    /// What was seen under `key`.
    pub fn get(&self, key: &K) -> Option<&Observed<L, V>> {
        self.things.get(key)
    }

    /// What was seen, in the order of the keys, without duplicates.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Observed<L, V>)> {
        self.things.iter()
    }

    /// How many things were seen, duplicates among them.
    pub fn len(&self) -> usize {
        self.things.len() + self.extra.values().map(Vec::len).sum::<usize>()
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// The gaps of a partial view.
    pub fn gaps(&self) -> Option<&Gaps> {
        match &self.completeness {
            Completeness::Complete => None,
            Completeness::Partial(gaps) => Some(gaps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_with_a_gap_is_partial_and_says_why() {
        let mut view: Snapshot<&str, (), ()> = Snapshot::new();
        assert_eq!(view.completeness(), &Completeness::Complete);
        view.missed("list of Services", "403 Forbidden");
        view.missed("page 2 of Pods", "timed out");
        let gaps = view.gaps().unwrap().to_string();
        assert_eq!(
            gaps,
            "list of Services (403 Forbidden), page 2 of Pods (timed out)"
        );
    }

    #[test]
    fn the_first_of_two_claimants_counts() {
        let seen = |id| Observed::new(id, Ownership::mine_at(1));
        let view = Snapshot::of([("a", seen(1)), ("a", seen(2))]);
        assert_eq!(view.get(&"a").unwrap().live, 1);
        assert_eq!(view.extra["a"].len(), 1);
    }
}
