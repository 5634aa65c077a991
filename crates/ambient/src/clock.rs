//! What time it is, said by whoever started the program.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// A clock that many owners share.
pub type SharedClock = Arc<dyn Clock>;

/// Tells the wall-clock time. For measuring how long something takes use
/// [`tokio::time::Instant`], which tests can pause.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the clock"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still until it is told to move.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Mutex<Timestamp>>);

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn at(start: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(start)))
    }

    /// Moves the clock by `by`; a negative span moves it back, as real clocks sometimes do.
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.saturating_add(by).unwrap_or(*now);
    }
}

impl Default for ManualClock {
    /// Stands at the epoch.
    fn default() -> Self {
        Self::at(Timestamp::UNIX_EPOCH)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::default();
        assert_eq!(clock.now(), Timestamp::UNIX_EPOCH);
        clock.advance(SignedDuration::from_secs(90));
        assert_eq!(clock.now().as_second(), 90);
        clock.advance(SignedDuration::from_secs(-30));
        assert_eq!(clock.now().as_second(), 60);
    }

    #[test]
    fn clones_of_a_manual_clock_agree() {
        let clock = ManualClock::default();
        let twin = clock.clone();
        clock.advance(SignedDuration::from_secs(1));
        assert_eq!(twin.now(), clock.now());
    }

    #[test]
    fn the_system_clock_is_past_the_year_2025() {
        assert!(SystemClock.now().as_second() > 1_735_689_600);
    }
}
