//! How long a lease lasts, and what follows from that.
//!
//! A holder counts from *before* it sent its last renewal, everybody else from *after* they saw it,
//! so the holder's count is always ahead. It stops at two thirds of the duration; the last third is
//! for requests that are under way.

use std::time::Duration;

use evenkeel_ambient::Random;

/// How long a lease lasts without renewal, in whole seconds as the lease itself says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    seconds: u16,
}

impl Default for Timing {
    /// Fifteen seconds.
    fn default() -> Self {
        Self::seconds(15)
    }
}

impl Timing {
    /// A lease that others may take after this many seconds of silence; at least three.
    pub fn seconds(seconds: u16) -> Self {
        Self {
            seconds: seconds.max(3),
        }
    }

    /// After this long without a renewal others may take the lease.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }

    /// After this long without a renewal the holder stops.
    pub fn deadline(self) -> Duration {
        self.duration() * 2 / 3
    }

    /// How often the holder renews, and the others look.
    pub fn period(self) -> Duration {
        self.duration() * 2 / 15
    }

    /// How long one request may take: two fit between a renewal and the deadline.
    pub(crate) fn patience(self) -> Duration {
        self.deadline() / 3
    }

    /// The period, a fifth of it left to chance so that many processes do not ask at once.
    pub(crate) fn pause(self, dice: &dyn Random) -> Duration {
        self.period().mul_f64(1.0 - 0.2 * dice.unit())
    }

    pub(crate) fn whole_seconds(self) -> i32 {
        self.seconds.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_stops_well_before_others_may_begin() {
        for seconds in [0, 3, 15, 60, u16::MAX] {
            let timing = Timing::seconds(seconds);
            assert!(timing.deadline() < timing.duration());
            assert!(timing.period() + 2 * timing.patience() <= timing.deadline());
        }
    }

    #[test]
    fn the_defaults_are_those_of_kubernetes() {
        let timing = Timing::default();
        let seconds = [timing.duration(), timing.deadline(), timing.period()];
        assert_eq!(seconds.map(|length| length.as_secs()), [15, 10, 2]);
    }
}
