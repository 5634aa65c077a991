//! How a run ended, as the queue needs to know it: any error type, a timeout or a panic.

use std::borrow::Cow;
use std::error::Error;

use evenkeel_ambient::chain;

use crate::outcome::{Outcome, OutcomeClass};
use crate::retry::{Classify, ErrorClass};

/// How a run ended. An [`Outcome`] with its error put into words, or the end that a run could
/// not choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The world is as desired.
    Done,
    /// It waits for what is named here.
    Wait(Cow<'static, str>),
    /// It failed.
    Failed(Failure),
}

/// What went wrong in one run of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// How it failed.
    pub kind: FailureKind,
    /// The error with all its causes, the panic's message, or the limit that passed.
    pub text: Box<str>,
}

/// The ways in which a run can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// An error of this class.
    Error(ErrorClass),
    /// It took longer than a run may take.
    Timeout,
    /// It panicked.
    Panic,
}

impl FailureKind {
    /// The class that chooses the next delay: a timeout may pass, of a panic nobody can tell.
    pub fn class(self) -> ErrorClass {
        match self {
            Self::Error(class) => class,
            Self::Timeout => ErrorClass::Transient,
            Self::Panic => ErrorClass::Unknown,
        }
    }

    /// A stable word, fit for a metric label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error(ErrorClass::Transient) => "transient",
            Self::Error(ErrorClass::Permanent) => "permanent",
            Self::Error(ErrorClass::Unknown) => "unknown",
            Self::Timeout => "timeout",
            Self::Panic => "panic",
        }
    }
}

impl Ended {
    pub(super) fn failed(kind: FailureKind, text: impl Into<Box<str>>) -> Self {
        Self::Failed(Failure {
            kind,
            text: text.into(),
        })
    }

    /// What alone decides when to run again.
    pub fn class(&self) -> OutcomeClass {
        match self {
            Self::Done => OutcomeClass::Done,
            Self::Wait(_) => OutcomeClass::Wait,
            Self::Failed(failure) => OutcomeClass::Failed(failure.kind.class()),
        }
    }

    /// A stable word, fit for a metric label.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Wait(_) => "wait",
            Self::Failed(failure) => failure.kind.as_str(),
        }
    }
}

impl<E: Classify + Error + 'static> From<Outcome<E>> for Ended {
    fn from(outcome: Outcome<E>) -> Self {
        let failed = |class, error: E| Self::failed(FailureKind::Error(class), chain(&error));
        match outcome {
            Outcome::Done => Self::Done,
            Outcome::Wait(what) => Self::Wait(what),
            Outcome::Retry(error) => failed(error.class(), error),
            Outcome::Terminal(error) => failed(ErrorClass::Permanent, error),
        }
    }
}
