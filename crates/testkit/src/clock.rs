//! A clock for tests in paused time.

use evenkeel_ambient::Clock;
use evenkeel_kubesim::ambient::{self, Clock as _};
use jiff::Timestamp;

/// Advances with tokio's time, so that a paused test moves it by sleeping.
#[derive(Debug, Clone, Copy)]
pub struct VirtualClock(ambient::VirtualClock);

impl Default for VirtualClock {
    /// Shows the first day of 2026 now.
    fn default() -> Self {
        let start = Timestamp::constant(1_767_225_600, 0);
        Self(ambient::VirtualClock::from(start))
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}
