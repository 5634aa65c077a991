//! What a pass did, told to people and machines.
//!
//! Notes (events and log lines), counts (metrics) and verdicts (conditions) are all read from one
//! change set, so they cannot contradict each other.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Display;

use evenkeel_ambient::chain;

use crate::change::{Change, ChangeSet, Word};
use crate::condition::{ReasonWord, Status, Verdict};
use crate::interrupted::{Attempt, Failed, Interrupted};

/// The condition that says whether the world is as wanted.
pub const SYNCED: &str = "Synced";

/// The condition that says whether somebody changed things and the policy lets them.
pub const DRIFTED: &str = "Drifted";

/// How many things a message names before it only counts them.
const NAMED: usize = 3;

/// What a pass did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What is worth telling: one note for each key that was not simply kept, and one for each
    /// failure that no key is to blame for.
    pub notes: Vec<Note>,
    /// How many keys each word became of.
    pub counts: Counts,
    /// What to say in the conditions [`SYNCED`] and [`DRIFTED`].
    pub verdicts: [Verdict; 2],
}

/// How many keys each word became of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([usize; Word::ALL.len()]);

/// One thing worth telling: the text of an event, and of a log line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// How far it is from what it should be.
    pub gravity: Gravity,
    /// Why, as a CamelCase word from a closed list.
    pub reason: &'static str,
    /// The key, if one is concerned.
    pub subject: Option<String>,
    /// What became of it and why, as a sentence that reads on its own.
    pub message: String,
}

/// How far something is from what it should be, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// It is as it should be.
    Fine,
    /// It is not, and the policy lets it be.
    Tolerated,
    /// It will be, with time.
    Waiting,
    /// Nobody can tell.
    Unseen,
    /// It waits for somebody to decide.
    Held,
    /// It failed.
    Failed,
}

impl Gravity {
    /// Whether people should be warned.
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Self::Tolerated | Self::Unseen | Self::Held | Self::Failed
        )
    }

    fn of(word: Word) -> Self {
        match word {
            Word::Created
            | Word::Updated
            | Word::Adopted
            | Word::Deleted
            | Word::Released
            | Word::Kept => Self::Fine,
            Word::Drifted => Self::Tolerated,
            Word::Deleting | Word::Waiting | Word::Stale | Word::NotReached => Self::Waiting,
            Word::Unseen => Self::Unseen,
            Word::Refused | Word::Contended => Self::Held,
            Word::Failed => Self::Failed,
        }
    }

    fn status(self) -> Status {
        match self {
            Self::Fine | Self::Tolerated => Status::True,
            Self::Unseen => Status::Unknown,
            Self::Waiting | Self::Held | Self::Failed => Status::False,
        }
    }
}

/// Tells what became of a pass.
pub fn report<K: Display, E: Error>(pass: &Result<ChangeSet<K>, Interrupted<K, E>>) -> Report {
    let (changes, failures) = match pass {
        Ok(changes) => (changes, [].as_slice()),
        Err(interrupted) => (&interrupted.changes, interrupted.failures.as_slice()),
    };
    let blameless = failures.iter().filter_map(note_failure);
    let notes: Vec<_> = blameless
        .chain(changes.iter().filter_map(note_change))
        .collect();
    let verdicts = [synced(changes.len(), &notes), drifted(&notes)];
    Report {
        notes,
        counts: Counts::of(changes),
        verdicts,
    }
}

impl Report {
    /// Writes a log line for each note.
    pub fn log(&self) {
        for Note {
            gravity,
            reason,
            subject,
            message,
        } in &self.notes
        {
            if gravity.is_warning() {
                tracing::warn!(reason, subject, "{message}");
            } else {
                tracing::info!(reason, subject, "{message}");
            }
        }
    }
}

impl Counts {
    fn of<K>(changes: &ChangeSet<K>) -> Self {
        let mut counts = Self::default();
        for change in changes {
            counts.0[change.word as usize] += 1;
        }
        counts
    }

    /// How many keys `word` became of.
    pub fn get(&self, word: Word) -> usize {
        self.0[word as usize]
    }

    /// Every word with its count, for metrics with the word as label.
    pub fn iter(&self) -> impl Iterator<Item = (Word, usize)> {
        Word::ALL.into_iter().zip(self.0)
    }
}

/// The note of a failure that no key is to blame for.
fn note_failure<K: Display, E: Error>(failed: &Failed<K, E>) -> Option<Note> {
    let (gravity, reason) = match failed.attempt {
        Attempt::Observe => (Gravity::Unseen, "ObserveFailed"),
        Attempt::Remember | Attempt::Forget => (Gravity::Failed, "RecordFailed"),
        Attempt::Enter(_) => (Gravity::Failed, "StageFailed"),
        Attempt::Step(..) => return None,
    };
    let message = format!("failed {}: {}", failed.attempt, chain(&failed.error));
    Some(Note {
        gravity,
        reason,
        subject: None,
        message,
    })
}

fn note_change<K: Display>(change: &Change<K>) -> Option<Note> {
    let Change {
        key,
        word,
        reason,
        text,
    } = change;
    if *word == Word::Kept {
        return None;
    }
    let message = format!("{} {key}: {text}", word.as_str());
    Some(Note {
        gravity: Gravity::of(*word),
        reason,
        subject: Some(key.to_string()),
        message,
    })
}

fn synced(keys: usize, notes: &[Note]) -> Verdict {
    let open = notes
        .iter()
        .filter(|note| note.gravity > Gravity::Tolerated);
    // The first of the worst names the condition.
    match open.clone().rev().max_by_key(|note| note.gravity) {
        None => verdict(
            SYNCED,
            Status::True,
            SYNCED,
            format!("{keys} keys are as wanted"),
        ),
        Some(worst) => verdict(SYNCED, worst.gravity.status(), worst.reason, summary(open)),
    }
}

fn drifted(notes: &[Note]) -> Verdict {
    let mut drifted = notes
        .iter()
        .filter(|note| note.gravity == Gravity::Tolerated)
        .peekable();
    match drifted.peek() {
        None => verdict(DRIFTED, Status::False, "NoDrift", String::new()),
        Some(first) => verdict(DRIFTED, Status::True, first.reason, summary(drifted)),
    }
}

fn verdict(kind: &'static str, status: Status, reason: &'static str, message: String) -> Verdict {
    Verdict {
        kind: Cow::Borrowed(kind),
        status,
        reason: ReasonWord::of(reason),
        message,
    }
}

/// The first few messages, and how many more there are.
fn summary<'n>(mut notes: impl Iterator<Item = &'n Note>) -> String {
    let named: Vec<_> = notes
        .by_ref()
        .take(NAMED)
        .map(|note| note.message.as_str())
        .collect();
    let text = named.join("; ");
    match notes.count() {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pass = Result<ChangeSet<&'static str>, Interrupted<&'static str, std::io::Error>>;

    fn change(key: &'static str, word: Word, reason: &'static str) -> Change<&'static str> {
        Change {
            key,
            word,
            reason,
            text: Cow::Borrowed("because"),
        }
    }

    fn told(changes: impl IntoIterator<Item = Change<&'static str>>) -> Report {
        report(&Pass::Ok(changes.into_iter().collect()))
    }

    #[test]
    fn a_world_as_wanted_is_synced_and_quiet() {
        let report = told([change("a", Word::Kept, "Current")]);
        assert!(report.notes.is_empty());
        assert_eq!(report.verdicts[0].status, Status::True);
        assert_eq!(report.verdicts[1].status, Status::False);
    }

    #[test]
    fn the_worst_trouble_names_the_condition() {
        let report = told([
            change("a", Word::Created, "Missing"),
            change("b", Word::Unseen, "PartialView"),
            change("c", Word::Refused, "Braked"),
            change("d", Word::Refused, "Protected"),
        ]);
        let synced = &report.verdicts[0];
        assert_eq!(
            (synced.status, synced.reason.as_str()),
            (Status::False, "Braked")
        );
        assert_eq!(
            synced.message,
            "unseen b: because; refused c: because; refused d: because"
        );
    }

    #[test]
    fn what_could_not_be_seen_is_unknown_rather_than_false() {
        let report = told([change("a", Word::Unseen, "PartialView")]);
        assert_eq!(report.verdicts[0].status, Status::Unknown);
        let blind: Pass = Err(Interrupted::by(
            Attempt::Observe,
            std::io::Error::other("timeout"),
        ));
        let verdict = &super::report(&blind).verdicts[0];
        assert_eq!(verdict.status, Status::Unknown);
        assert_eq!(verdict.message, "failed to observe the world: timeout");
    }

    #[test]
    fn tolerated_drift_is_told_but_does_not_unsettle() {
        let report = told([change("a", Word::Drifted, "DriftTolerated")]);
        assert_eq!(report.verdicts[0].status, Status::True);
        assert_eq!(report.verdicts[1].status, Status::True);
        assert!(report.notes[0].gravity.is_warning());
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let report =
            told(["a", "b", "c", "d", "e"].map(|key| change(key, Word::Failed, "CreateFailed")));
        assert!(
            report.verdicts[0]
                .message
                .ends_with("failed c: because; and 2 more")
        );
        assert_eq!(report.counts.get(Word::Failed), 5);
    }

    #[test]
    fn notes_counts_and_changes_agree() {
        let words = Word::ALL.map(|word| change("k", word, "Reason"));
        let report = told(words);
        assert!(report.counts.iter().all(|(_, count)| count == 1));
        assert_eq!(report.notes.len(), Word::ALL.len() - 1, "all but the kept");
    }
}
