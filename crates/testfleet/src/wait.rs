//! Waiting for something to become so.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Far longer than anything takes on a slow machine: only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until `look` finds something, and returns that.
///
/// # Panics
/// When it does not, saying `what` was waited for.
pub async fn until<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        sleep(Duration::from_millis(20)).await;
    }
}
