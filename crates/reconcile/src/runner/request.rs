//! A wish that a key be run: why, how soon, and for which generation.

use std::num::NonZeroU64;
use std::time::Duration;

use super::moment::Moment;

/// Why a key runs. For people and traces only: the run itself is given the key and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The desired state of the key changed.
    Changed,
    /// Something that the key owns changed.
    Owned,
    /// Something that the key refers to changed.
    Related,
    /// Somebody asked for it.
    Asked,
    /// It was found in a list, for instance after a restart.
    Listed,
    /// The last run failed.
    Retry,
    /// The last run waited for something.
    Recheck,
    /// It has not run for a while.
    Resync,
}

impl Reason {
    /// Changes go first, routine follows.
    pub fn priority(self) -> Priority {
        match self {
            Self::Changed | Self::Owned | Self::Related | Self::Asked => Priority::Change,
            Self::Listed | Self::Retry | Self::Recheck | Self::Resync => Priority::Routine,
        }
    }

    /// A stable word, fit for a metric label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Owned => "owned",
            Self::Related => "related",
            Self::Asked => "asked",
            Self::Listed => "listed",
            Self::Retry => "retry",
            Self::Recheck => "recheck",
            Self::Resync => "resync",
        }
    }

    fn or_more_urgent(self, other: Self) -> Self {
        match (self.priority(), other.priority()) {
            (Priority::Routine, Priority::Change) => other,
            _ => self,
        }
    }
}

/// Which of the two lanes a key waits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Somebody or something changed.
    Change,
    /// Resyncs, retries, first listings.
    Routine,
}

impl Priority {
    /// Both, in order of rank.
    pub const ALL: [Self; 2] = [Self::Change, Self::Routine];

    /// A stable word, fit for a metric label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Routine => "routine",
        }
    }
}

/// A wish that a key be run.
///
/// A request never makes a key run twice at once, and never makes a key that already waits run
/// twice. It cuts a backoff short only when it is *new*: its generation differs from the last
/// one told, or nobody gave a generation with a change, or somebody asked.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    reason: Reason,
    after: Duration,
    generation: Option<NonZeroU64>,
}

impl Request {
    fn because(reason: Reason) -> Self {
        Self {
            reason,
            after: Duration::ZERO,
            generation: None,
        }
    }

    /// The desired state changed. Say which [`generation`](Self::generation) it is now, or
    /// every such event (also one caused by our own status write) cuts a backoff short.
    pub fn changed() -> Self {
        Self::because(Reason::Changed)
    }

    /// Something that the key owns changed.
    pub fn owned() -> Self {
        Self::because(Reason::Owned)
    }

    /// Something that the key refers to changed.
    pub fn related() -> Self {
        Self::because(Reason::Related)
    }

    /// Somebody asked: runs at once even in a backoff or after a terminal error.
    pub fn asked() -> Self {
        Self::because(Reason::Asked)
    }

    /// The key was found in a list.
    pub fn listed() -> Self {
        Self::because(Reason::Listed)
    }

    /// It is time to look again.
    pub fn resync() -> Self {
        Self::because(Reason::Resync)
    }

    /// Not at once, but no later than after `delay`.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self {
            after: delay,
            ..self
        }
    }

    /// The generation of the desired state; 0 means not known.
    #[must_use]
    pub fn generation(self, generation: u64) -> Self {
        Self {
            generation: NonZeroU64::new(generation),
            ..self
        }
    }

    /// The generation to remember, given the one known so far.
    pub(super) fn generation_over(&self, known: Option<NonZeroU64>) -> Option<NonZeroU64> {
        self.generation.or(known)
    }

    pub(super) fn wanted(
        &self,
        known: Option<NonZeroU64>,
        debounce: Option<Debounce>,
        now: Moment,
    ) -> Wanted {
        Wanted {
            window: self.window(debounce, now),
            reason: self.reason,
            afresh: self.is_new(known),
        }
    }

    fn is_new(&self, known: Option<NonZeroU64>) -> bool {
        match self.generation {
            _ if self.reason == Reason::Asked => true,
            Some(_) => self.generation != known,
            None => self.reason == Reason::Changed,
        }
    }

    fn window(&self, debounce: Option<Debounce>, now: Moment) -> Window {
        let gathers = matches!(
            self.reason,
            Reason::Changed | Reason::Owned | Reason::Related
        );
        match debounce {
            Some(debounce) if gathers && self.after.is_zero() => debounce.window(now),
            _ => Window::at(now + self.after),
        }
    }
}

/// Gathers bursts of changes into one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Debounce {
    /// Run when no change came for this long ...
    pub quiet: Duration,
    /// ... but never later than this after the first change.
    pub max_wait: Duration,
}

impl Debounce {
    fn window(self, now: Moment) -> Window {
        let latest = now + self.max_wait;
        Window {
            due: (now + self.quiet).min(latest),
            latest,
        }
    }
}

/// When a key is due, and how far later requests may push that back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) due: Moment,
    latest: Moment,
}

impl Window {
    pub(super) fn at(due: Moment) -> Self {
        Self { due, latest: due }
    }

    /// This window after `newer` came in. Only a debounced request can push `due` back, and
    /// nothing can push it past the `latest` that was promised first.
    fn merged(self, newer: Self) -> Self {
        let latest = self.latest.min(newer.latest);
        let debounced = newer.due < newer.latest;
        let due = if debounced {
            newer.due
        } else {
            self.due.min(newer.due)
        };
        Self {
            due: due.min(latest),
            latest,
        }
    }
}

/// What the requests for one key add up to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) window: Window,
    pub(super) reason: Reason,
    /// Whether it may cut a backoff short.
    pub(super) afresh: bool,
}

impl Wanted {
    pub(super) fn merged(self, newer: Self) -> Self {
        Self {
            window: self.window.merged(newer.window),
            reason: self.reason.or_more_urgent(newer.reason),
            afresh: self.afresh || newer.afresh,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after(Duration::from_secs(seconds))
    }

    const DEBOUNCE: Debounce = Debounce {
        quiet: Duration::from_secs(3),
        max_wait: Duration::from_secs(10),
    };

    fn first_wish(request: &Request) -> Wanted {
        request.wanted(None, Some(DEBOUNCE), Moment::START)
    }

    proptest! {
        #[test]
        fn no_later_wish_breaks_a_promise(
            wishes in prop::collection::vec((0_u64..8, any::<bool>(), 0_u64..20), 1..30),
        ) {
            let mut now = 0;
            let mut all = first_wish(&Request::changed());
            let mut promised = at(10);
            for (pause, debounced, after) in wishes {
                now += pause;
                let wish = Request::changed();
                let delay = Duration::from_secs(if debounced { 0 } else { after });
                let wish = wish.after(delay).wanted(None, debounced.then_some(DEBOUNCE), at(now));
                promised = promised.min(wish.window.latest);
                all = all.merged(wish);
                prop_assert!(all.window.due <= promised);
            }
        }
    }

    #[test]
    fn debounce_gathers_changes_but_neither_delays_a_person_nor_a_resync() {
        assert_eq!(first_wish(&Request::owned()).window.due, at(3));
        assert_eq!(first_wish(&Request::asked()).window.due, at(0));
        assert_eq!(first_wish(&Request::resync()).window.due, at(0));
    }

    #[test]
    fn a_person_who_asks_ends_the_gathering() {
        let gathered = first_wish(&Request::changed()).merged(first_wish(&Request::asked()));
        assert_eq!(gathered.window.due, at(0));
    }
}
