//! What the queue knows about one key. Kept small: a million of them must fit.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::time::Duration;

use super::ended::{Ended, Failure};
use super::lanes::Ticket;
use super::moment::Moment;
use super::request::{Reason, Wanted};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) phase: Phase,
    pub(super) generation: Option<NonZeroU64>,
    /// Only keys that wait or fail have one.
    pub(super) note: Option<Box<Note>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    /// In no queue: new, stopped by a terminal error, or waiting for an event.
    Idle,
    /// In a timer.
    Delayed(Wanted),
    /// In a lane.
    Ready {
        ticket: Ticket,
        since: Moment,
        reason: Reason,
    },
    /// With a worker.
    Running(Running),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    pub(super) since: Moment,
    pub(super) reason: Reason,
    /// What was asked for meanwhile.
    pub(super) again: Option<Wanted>,
    /// Whether the key is to be dropped when the run ends.
    pub(super) forgotten: bool,
}

/// Why a key is not done, and since when.
#[derive(Debug, Clone)]
pub(super) struct Note {
    pub(super) about: About,
    /// Runs in a row that ended like this.
    pub(super) attempts: u32,
    since: Moment,
}

#[derive(Debug, Clone)]
pub(super) enum About {
    Waiting(Cow<'static, str>),
    Failed(Failure),
}

impl Entry {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Idle,
            generation: None,
            note: None,
        }
    }

    /// Whether the last run failed, so that only something new may run the key early.
    pub(super) fn holds(&self) -> bool {
        matches!(
            self.note.as_deref(),
            Some(Note {
                about: About::Failed(_),
                ..
            })
        )
    }

    /// Failures in a row so far.
    pub(super) fn failures(&self) -> u32 {
        self.note
            .as_ref()
            .filter(|_| self.holds())
            .map_or(0, |note| note.attempts)
    }

    /// Runs in a row that ended like the last one, and how long ago the first of them ended.
    pub(super) fn streak(&self, now: Moment) -> (u32, Duration) {
        self.note.as_ref().map_or((1, Duration::ZERO), |note| {
            (note.attempts, now.since(note.since))
        })
    }

    /// Writes down how a run ended; a row of equal ends is counted.
    pub(super) fn take_note(&mut self, ended: Ended, now: Moment) {
        let about = match ended {
            Ended::Done => None,
            Ended::Wait(what) => Some(About::Waiting(what)),
            Ended::Failed(failure) => Some(About::Failed(failure)),
        };
        let last = self.note.take();
        self.note = about.map(|about| Box::new(Note::following(last.as_deref(), about, now)));
    }
}

impl Note {
    fn following(last: Option<&Self>, about: About, now: Moment) -> Self {
        match last.filter(|last| last.about.is_like(&about)) {
            Some(last) => Self {
                about,
                attempts: last.attempts.saturating_add(1),
                ..*last
            },
            None => Self {
                about,
                attempts: 1,
                since: now,
            },
        }
    }
}

impl About {
    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}
