//! What went wrong while a plan was carried out, with what was done all the same.

use std::error::Error;
use std::fmt::{self, Debug, Display};
use std::time::Duration;

use crate::change::ChangeSet;
use crate::retry::{Classify, ErrorClass};
use crate::world::Stage;

/// A plan was not carried out in full.
#[derive(Debug)]
pub struct Interrupted<K, E> {
    /// What became of every key of the plan all the same.
    pub changes: ChangeSet<K>,
    /// What failed, in the order in which it did; at least one.
    pub failures: Vec<Failed<K, E>>,
}

impl<K, E> Interrupted<K, E> {
    /// Nothing was done, because of one failure.
    pub(crate) fn by(attempt: Attempt<K>, error: E) -> Self {
        Self {
            changes: ChangeSet::default(),
            failures: vec![Failed { attempt, error }],
        }
    }
}

/// The class of the most hopeful failure, since every further pass tries all of them again.
impl<K, E: Classify> Classify for Interrupted<K, E> {
    fn class(&self) -> ErrorClass {
        let classes = || self.failures.iter().map(|failed| failed.error.class());
        match classes().all(|class| class == ErrorClass::Permanent) {
            true => ErrorClass::Permanent,
            false if classes().any(|class| class == ErrorClass::Transient) => ErrorClass::Transient,
            false => ErrorClass::Unknown,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        self.failures
            .iter()
            .filter_map(|failed| failed.error.retry_after())
            .max()
    }
}

/// One thing that failed.
#[derive(Debug)]
pub struct Failed<K, E> {
    /// What was attempted.
    pub attempt: Attempt<K>,
    /// Why it failed.
    pub error: E,
}

/// What can fail while a plan is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt<K> {
    /// To observe the world.
    Observe,
    /// To write down what may exist.
    Remember,
    /// To enter a stage.
    Enter(Stage),
    /// To carry out the action for a key.
    Step(&'static str, K),
    /// To take from the record what is gone.
    Forget,
}

impl<K: Display> Display for Attempt<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Observe => f.write_str("to observe the world"),
            Self::Remember => f.write_str("to record what may exist"),
            Self::Enter(Stage::Apply(rank)) => write!(f, "to begin applying rank {}", rank.0),
            Self::Enter(Stage::Prune(rank)) => write!(f, "to begin deleting rank {}", rank.0),
            Self::Step(verb, key) => write!(f, "to {verb} {key}"),
            Self::Forget => f.write_str("to take from the record what is gone"),
        }
    }
}

impl<K: Display, E> Display for Interrupted<K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.failures.as_slice() {
            [] => f.write_str("interrupted"),
            [only] => write!(f, "failed {}", only.attempt),
            [first, rest @ ..] => {
                write!(f, "failed {} and {} more times", first.attempt, rest.len())
            }
        }
    }
}

impl<K: Debug + Display, E: Error + 'static> Error for Interrupted<K, E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.failures
            .first()
            .map(|failed| &failed.error as &(dyn Error + 'static))
    }
}
