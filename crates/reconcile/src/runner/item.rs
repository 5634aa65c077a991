//! Answers to "what is queued?" and "why is it waiting?".

use std::fmt::{self, Display};
use std::time::Duration;

use super::ended::Failure;
use super::entry::{About, Entry, Phase};
use super::moment::Moment;
use super::request::Reason;

/// One key of the queue, as people want to see it; its `Display` is the answer in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<K> {
    /// Which.
    pub key: K,
    /// Where it is.
    pub state: State,
    /// Why it is not done, if the last run said so.
    pub trouble: Option<Trouble>,
}

/// Where a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Waits for a worker.
    Queued {
        /// For how long already.
        waited: Duration,
        /// Why it wants to run.
        reason: Reason,
    },
    /// A worker runs it.
    Running {
        /// For how long already.
        ran: Duration,
        /// Why it runs.
        reason: Reason,
        /// Whether it will run again afterwards because something happened meanwhile.
        again: bool,
    },
    /// Its time has not come.
    Delayed {
        /// How long it still waits.
        remaining: Duration,
        /// Why it will run.
        reason: Reason,
    },
    /// Nothing happens until somebody or something asks.
    Idle,
}

/// Why a key is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// It waits for this.
    Waiting(String),
    /// It failed.
    Failed {
        /// How.
        failure: Failure,
        /// How often in a row.
        attempts: u32,
    },
}

/// How much there is to do: the gauges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Changes that wait for a worker.
    pub changes: usize,
    /// Routine work that waits for a worker.
    pub routine: usize,
    /// How long the oldest change has waited.
    pub oldest_change: Duration,
    /// How long the oldest routine work has waited.
    pub oldest_routine: Duration,
    /// Keys whose time has not come.
    pub delayed: usize,
    /// Keys with a worker.
    pub running: usize,
    /// Keys that rest until somebody asks.
    pub idle: usize,
}

impl<K: Clone> Item<K> {
    pub(super) fn of(key: &K, entry: &Entry, now: Moment) -> Self {
        let trouble = entry.note.as_ref().map(|note| match &note.about {
            About::Waiting(what) => Trouble::Waiting(what.to_string()),
            About::Failed(failure) => Trouble::Failed {
                failure: failure.clone(),
                attempts: note.attempts,
            },
        });
        Self {
            key: key.clone(),
            state: State::of(entry.phase, now),
            trouble,
        }
    }
}

impl State {
    fn of(phase: Phase, now: Moment) -> Self {
        match phase {
            Phase::Idle => Self::Idle,
            Phase::Delayed(wanted) => Self::Delayed {
                remaining: wanted.window.due.since(now),
                reason: wanted.reason,
            },
            Phase::Ready { since, reason, .. } => Self::Queued {
                waited: now.since(since),
                reason,
            },
            Phase::Running(run) => Self::Running {
                ran: now.since(run.since),
                reason: run.reason,
                again: run.again.is_some(),
            },
        }
    }
}

impl<K: Display> Display for Item<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.key)?;
        if let Some(trouble) = &self.trouble {
            write!(f, "{trouble}; ")?;
        }
        self.state.fmt(f)
    }
}

impl Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting(what) => write!(f, "waits for {what}"),
            Self::Failed {
                failure: Failure { kind, text },
                attempts,
            } => {
                write!(f, "attempt {attempts} failed ({}): {text}", kind.as_str())
            }
        }
    }
}

impl Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queued { waited, reason } => {
                write!(f, "queued for {} ({})", Short(*waited), reason.as_str())
            }
            Self::Running { ran, reason, again } => {
                let then = if *again { ", then again" } else { "" };
                write!(f, "running for {} ({}){then}", Short(*ran), reason.as_str())
            }
            Self::Delayed { remaining, reason } => {
                write!(f, "next run in {} ({})", Short(*remaining), reason.as_str())
            }
            Self::Idle => f.write_str("no run before something changes"),
        }
    }
}

/// A duration without the digits that nobody reads.
struct Short(Duration);

impl Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            0 => write!(f, "{} ms", self.0.as_millis()),
            seconds => write!(f, "{seconds} s"),
        }
    }
}
