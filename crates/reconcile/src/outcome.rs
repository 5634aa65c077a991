//! How a run ended, and what that means for the next one.
//!
//! ```text
//! Outcome ──class──▶ OutcomeClass ──Delays──▶ when to run again (or never, until told)
//! ```
//!
//! The class alone chooses the delay: no run picks its own number of seconds.

use std::borrow::Cow;
use std::time::Duration;

use crate::retry::{Classify, ErrorClass, RetryPolicy};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Outcome<E> {
    /// The world is as desired.
    Done,
    /// Nothing is wrong, but the rest must wait for what is named here.
    Wait(Cow<'static, str>),
    /// It failed and is worth another try. An error that says of itself that it is permanent is
    /// treated as terminal all the same.
    Retry(E),
    /// It failed and stays failed until somebody changes the desired state.
    Terminal(E),
}

impl<E> Outcome<E> {
    /// Not finished: waiting for `what`, which completes the sentence "waits for ...".
    pub fn wait(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Wait(what.into())
    }

    /// The error, if it failed.
    pub fn error(&self) -> Option<&E> {
        match self {
            Self::Done | Self::Wait(_) => None,
            Self::Retry(error) | Self::Terminal(error) => Some(error),
        }
    }

    /// The same outcome with another error type.
    pub fn map_err<F>(self, convert: impl FnOnce(E) -> F) -> Outcome<F> {
        match self {
            Self::Done => Outcome::Done,
            Self::Wait(what) => Outcome::Wait(what),
            Self::Retry(error) => Outcome::Retry(convert(error)),
            Self::Terminal(error) => Outcome::Terminal(convert(error)),
        }
    }
}

impl<E: Classify> Outcome<E> {
    /// Terminal when the error is permanent, a retry otherwise.
    pub fn failed(error: E) -> Self {
        match error.class() {
            ErrorClass::Permanent => Self::Terminal(error),
            ErrorClass::Transient | ErrorClass::Unknown => Self::Retry(error),
        }
    }

    /// What alone decides when to run again.
    pub fn class(&self) -> OutcomeClass {
        match self {
            Self::Done => OutcomeClass::Done,
            Self::Wait(_) => OutcomeClass::Wait,
            Self::Retry(error) => OutcomeClass::Failed(error.class()),
            Self::Terminal(_) => OutcomeClass::Failed(ErrorClass::Permanent),
        }
    }
}

/// So that a run can use `?` inside and still end in an outcome.
impl<E: Classify> From<Result<Self, E>> for Outcome<E> {
    fn from(result: Result<Self, E>) -> Self {
        result.unwrap_or_else(Self::failed)
    }
}

/// The class of an [`Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutcomeClass {
    /// See [`Outcome::Done`].
    Done,
    /// See [`Outcome::Wait`].
    Wait,
    /// It failed with an error of this class.
    Failed(ErrorClass),
}

/// When to run again, for each class of outcome. `None`: not before something changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delays {
    /// After done: the resync. Off unless set.
    pub done: Option<RetryPolicy>,
    /// After wait: look again even if no event comes. Every 30 s unless set.
    pub wait: Option<RetryPolicy>,
    /// After a transient error: 10 s, doubling up to 5 min, unless set.
    pub transient: Option<RetryPolicy>,
    /// After a permanent or terminal error: not again, unless set.
    pub permanent: Option<RetryPolicy>,
    /// After an error of unknown class: 5 s, doubling up to 5 min, unless set.
    pub unknown: Option<RetryPolicy>,
}

impl Delays {
    const LONGEST: Duration = Duration::from_secs(300);

    /// The defaults, with a resync about every `period`.
    pub fn resync_every(period: Duration) -> Self {
        Self {
            done: Some(RetryPolicy::every(period)),
            ..Self::default()
        }
    }

    /// The policy for one class.
    pub fn of(&self, class: OutcomeClass) -> Option<&RetryPolicy> {
        match class {
            OutcomeClass::Done => self.done.as_ref(),
            OutcomeClass::Wait => self.wait.as_ref(),
            OutcomeClass::Failed(ErrorClass::Transient) => self.transient.as_ref(),
            OutcomeClass::Failed(ErrorClass::Permanent) => self.permanent.as_ref(),
            OutcomeClass::Failed(ErrorClass::Unknown) => self.unknown.as_ref(),
        }
    }
}

impl Default for Delays {
    fn default() -> Self {
        let from = |seconds| RetryPolicy::doubling(Duration::from_secs(seconds), Self::LONGEST);
        Self {
            done: None,
            wait: Some(RetryPolicy::every(Duration::from_secs(30))),
            transient: Some(from(10)),
            permanent: None,
            unknown: Some(from(5)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Classify for ErrorClass {
        fn class(&self) -> ErrorClass {
            *self
        }
    }

    use ErrorClass::{Permanent, Transient, Unknown};

    #[test]
    fn the_error_class_picks_the_outcome() {
        assert_eq!(Outcome::failed(Transient), Outcome::Retry(Transient));
        assert_eq!(Outcome::failed(Unknown), Outcome::Retry(Unknown));
        assert_eq!(Outcome::failed(Permanent), Outcome::Terminal(Permanent));
        assert_eq!(Outcome::from(Err(Permanent)), Outcome::Terminal(Permanent));
        assert_eq!(
            Outcome::<ErrorClass>::from(Ok(Outcome::Done)),
            Outcome::Done
        );
    }

    #[test]
    fn terminal_and_permanent_are_one_class_however_they_are_wrapped() {
        let stuck = OutcomeClass::Failed(Permanent);
        assert_eq!(Outcome::Terminal(Transient).class(), stuck);
        assert_eq!(Outcome::Retry(Permanent).class(), stuck);
    }

    #[test]
    fn the_default_first_delays_are_ten_seconds_none_and_five() {
        let first = |class| {
            Delays::default()
                .of(class)
                .map(|policy| policy.first.as_secs())
        };
        assert_eq!(first(OutcomeClass::Failed(Transient)), Some(10));
        assert_eq!(first(OutcomeClass::Failed(Permanent)), None);
        assert_eq!(first(OutcomeClass::Failed(Unknown)), Some(5));
        assert_eq!(first(OutcomeClass::Done), None);
        assert_eq!(first(OutcomeClass::Wait), Some(30));
    }
}
