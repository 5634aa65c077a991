//! What is told of one attempt at one stack.

use std::collections::BTreeMap;
use std::error::Error as _;

use evenkeel_kubeset::{Converged, Error, ManifestError, ObjectKey as ClusterKey};
use evenkeel_model::{ChangeCounts, ObjectAction, ObjectChange, ObjectKey};
use evenkeel_reconcile::{Change, ChangeSet, Classify, ErrorClass, Interrupted, Word};

use crate::words;

/// The most objects that an event names one by one.
const NAMED: usize = 500;
/// The most objects and failures that a sentence names.
const SPOKEN: usize = 10;

/// Why a stack is not what it should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("the manifests have not been fetched from the broker yet")]
    NoText,
    #[error("the manifests cannot be read")]
    Manifest(#[from] ManifestError),
    #[error("{}", spoken(.0))]
    Cluster(Box<Interrupted<ClusterKey, Error>>),
    #[error("{0}")]
    Refused(String),
}

impl Classify for Trouble {
    fn class(&self) -> ErrorClass {
        match self {
            Self::NoText => ErrorClass::Transient,
            Self::Manifest(_) | Self::Refused(_) => ErrorClass::Permanent,
            Self::Cluster(interrupted) => interrupted.class(),
        }
    }
}

impl Trouble {
    /// The trouble with all its causes.
    pub(crate) fn text(&self) -> String {
        match self.source() {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }
}

/// How an attempt ended.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Every object is as it should be.
    Settled,
    /// Nothing is wrong, but the rest must wait for what is named here.
    Waiting(String),
    /// Something is wrong.
    Failed(Trouble),
}

impl Verdict {
    pub(crate) fn of(
        result: Result<ChangeSet<ClusterKey>, Interrupted<ClusterKey, Error>>,
    ) -> Self {
        let changes = match result {
            Ok(changes) => changes,
            Err(interrupted) => return Self::Failed(Trouble::Cluster(Box::new(interrupted))),
        };
        let of = |wanted: fn(&Change<ClusterKey>) -> bool| {
            changes
                .iter()
                .filter(move |change| wanted(change))
                .collect::<Vec<_>>()
        };
        let refused = of(|change| {
            matches!(change.word, Word::Refused | Word::Unseen) && !words::needs_approval(change)
        });
        let held = of(words::needs_approval);
        let slow = of(|change| {
            matches!(
                change.word,
                Word::Deleting | Word::Waiting | Word::Contended | Word::Stale | Word::NotReached
            )
        });
        if !refused.is_empty() {
            Self::Failed(Trouble::Refused(named("", &refused)))
        } else if !held.is_empty() {
            let what = format!("approval to delete {} objects: ", held.len());
            Self::Waiting(named(&what, &held))
        } else if !slow.is_empty() {
            Self::Waiting(named("", &slow))
        } else {
            Self::Settled
        }
    }
}

/// Some of the objects, each with its reason, and how many more there are.
fn named(begin: &str, changes: &[&Change<ClusterKey>]) -> String {
    let some = changes.iter().take(SPOKEN);
    let some = some.map(|change| format!("{}: {}", change.key, change.text));
    listed(begin, some, changes.len())
}

fn listed(begin: &str, some: impl Iterator<Item = String>, all: usize) -> String {
    let some = some.collect::<Vec<_>>().join("; ");
    match all.saturating_sub(SPOKEN) {
        0 => format!("{begin}{some}"),
        more => format!("{begin}{some}; and {more} more"),
    }
}

/// Every failure with all its causes.
fn spoken(interrupted: &Interrupted<ClusterKey, Error>) -> String {
    let failures = interrupted.failures.iter().take(SPOKEN);
    let failures = failures.map(|failed| {
        let causes = std::iter::successors(failed.error.source(), |&cause| cause.source());
        causes.fold(failed.error.to_string(), |text, cause| {
            format!("{text}: {cause}")
        })
    });
    listed("", failures, interrupted.failures.len())
}

/// What an attempt did to each object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Deeds(pub(crate) BTreeMap<ObjectKey, ObjectChange>);

impl Deeds {
    pub(crate) fn of(converged: &Converged) -> Self {
        let changes = converged.changes().iter().map(words::change);
        Self(
            changes
                .map(|change| (change.object.clone(), change))
                .collect(),
        )
    }

    /// These, after what was done before: what was written stays said.
    pub(crate) fn after(mut self, earlier: BTreeMap<ObjectKey, ObjectChange>) -> Self {
        for (key, change) in earlier {
            let later = self.0.get(&key);
            if later.is_none_or(|later| later.action == ObjectAction::Unchanged) {
                self.0.insert(key, change);
            }
        }
        self
    }

    /// The writes, which are worth telling at the next occasion.
    pub(crate) fn writes(&self) -> BTreeMap<ObjectKey, ObjectChange> {
        let writes = self.0.iter().filter(|(_, change)| is_write(change.action));
        writes
            .map(|(key, change)| (key.clone(), change.clone()))
            .collect()
    }

    pub(crate) fn counts(&self) -> ChangeCounts {
        let mut counts = ChangeCounts::new();
        for change in self.0.values() {
            *counts.entry(change.action).or_default() += 1;
        }
        counts
    }

    /// The objects one by one, those that changed first, and not more than an event can carry.
    pub(crate) fn named(self) -> Vec<ObjectChange> {
        let mut changes: Vec<_> = self.0.into_values().collect();
        changes.sort_by_key(|change| change.action == ObjectAction::Unchanged);
        changes.truncate(NAMED);
        changes
    }

    /// In a sentence: `created 2, unchanged 5`.
    pub(crate) fn sentence(&self) -> String {
        let counts = self.counts();
        let counts = counts
            .iter()
            .map(|(action, count)| format!("{action} {count}"));
        match counts.collect::<Vec<_>>().join(", ") {
            nothing if nothing.is_empty() => "nothing to do".to_owned(),
            counts => counts,
        }
    }
}

fn is_write(action: ObjectAction) -> bool {
    match action {
        ObjectAction::Created
        | ObjectAction::Updated
        | ObjectAction::Adopted
        | ObjectAction::Deleted => true,
        ObjectAction::Unchanged
        | ObjectAction::Kept
        | ObjectAction::Refused
        | ObjectAction::Held
        | ObjectAction::Failed => false,
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_kubeset::GroupKind;

    use super::*;

    fn change(name: &str, word: Word, reason: &'static str) -> Change<ClusterKey> {
        Change {
            key: ClusterKey::new(GroupKind::new("", "ConfigMap"), Some("n"), name),
            word,
            reason,
            text: "because".into(),
        }
    }

    fn verdict(changes: impl IntoIterator<Item = Change<ClusterKey>>) -> String {
        match Verdict::of(Ok(changes.into_iter().collect())) {
            Verdict::Settled => "settled".to_owned(),
            Verdict::Waiting(what) => format!("waits for {what}"),
            Verdict::Failed(trouble) => format!("failed: {}", trouble.text()),
        }
    }

    #[test]
    fn a_brake_says_what_would_be_deleted() {
        let held = (1..=12).map(|n| change(&format!("c{n}"), Word::Refused, "Braked"));
        let text = verdict(held);
        assert!(
            text.starts_with("waits for approval to delete 12 objects: ConfigMap n/c1: because;")
        );
        assert!(text.ends_with("; and 2 more"), "{text}");
    }

    #[test]
    fn what_another_stack_has_is_a_failure_even_while_others_wait() {
        let text = verdict([
            change("a", Word::Deleting, "Unwanted"),
            change("b", Word::Refused, "OwnedByOther"),
        ]);
        assert_eq!(text, "failed: ConfigMap n/b: because");
        assert_eq!(verdict([change("a", Word::Kept, "Current")]), "settled");
    }

    #[test]
    fn what_was_done_while_waiting_is_told_when_the_wait_is_over() {
        let deeds = |word, reason| {
            let change = words::change(&change("a", word, reason));
            Deeds([(change.object.clone(), change)].into())
        };
        let first = deeds(Word::Created, "Missing");
        let second = deeds(Word::Kept, "Current").after(first.writes());
        assert_eq!(second.sentence(), "created 1");
        let third = deeds(Word::Deleted, "Unwanted").after(first.writes());
        assert_eq!(third.sentence(), "deleted 1");
    }
}
