//! Waiting for something to become so.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long to wait for something, and how often to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) longest: Duration,
    pub(crate) pause: Duration,
}

impl Patience {
    /// Far longer than anything takes on a slow machine: only a test that fails waits for it.
    pub(crate) const USUAL: Self = Self {
        longest: Duration::from_secs(180),
        pause: Duration::from_millis(20),
    };

    /// Waits until `look` finds something, and returns that. Panics, saying `what` was waited for,
    /// when it does not.
    pub(crate) async fn until<T>(self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(begun.elapsed() < self.longest, "waited in vain for {what}");
            sleep(self.pause).await;
        }
    }
}

/// Waits until `look` finds something, and returns that.
///
/// # Panics
/// When it does not, saying `what` was waited for.
pub async fn until<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    Patience::USUAL.until(what, look).await
}
