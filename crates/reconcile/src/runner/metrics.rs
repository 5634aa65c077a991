//! What the runner counts. Labels come from closed enums, never from keys or error texts.

use std::time::Duration;

use super::ended::Ended;
use super::item::Load;
use super::request::Reason;

/// Receives the numbers; every method does nothing unless written. Must not block.
pub trait Metrics: Send + Sync + 'static {
    /// The gauges (depth and age of the oldest), whenever they may have changed. A scraper
    /// that wants them to the second calls [`Handle::load`](super::Handle::load) itself.
    fn load(&self, load: &Load) {
        let _ = load;
    }

    /// A run began after the key had been ready for `waited`. [`Reason::Retry`] counts retries.
    fn started(&self, reason: Reason, waited: Duration) {
        let _ = (reason, waited);
    }

    /// A run ended after `took`; [`Ended::as_str`] is the label. Panics and timeouts are two of
    /// the ways to end.
    fn ended(&self, ended: &Ended, took: Duration) {
        let _ = (ended, took);
    }
}

/// Counts nothing.
impl Metrics for () {}
