//! Points in time on the queue's own axis.

use std::ops::Add;
use std::time::Duration;

/// A point in time, counted from the start of the runner. Eight bytes, because a queue holds
/// one or two for each of a million keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment(u64);

impl Moment {
    /// Where the axis begins.
    pub const START: Self = Self(0);

    /// The moment `elapsed` after the start.
    pub fn after(elapsed: Duration) -> Self {
        Self(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }

    /// The time from `earlier` to here; nothing if it is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    /// Saturates after 584 years.
    fn add(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(Self::after(delay).0))
    }
}
