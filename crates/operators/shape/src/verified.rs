//! What the last survey saw as declared, so that a start does not ask the cloud about each shape.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long runs wait for the first survey. After that they look for themselves.
const PATIENCE: Duration = Duration::from_secs(15);

/// The Shapes whose cloud shape the last survey saw as declared, each at a generation.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    seen: Mutex<BTreeMap<String, i64>>,
    surveyed: watch::Sender<bool>,
}

impl Verified {
    /// A survey ended and saw these as declared; one that failed saw none.
    pub(crate) fn surveyed(&self, seen: BTreeMap<String, i64>) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        self.surveyed.send_replace(true);
    }

    /// Whether the last survey saw it as declared at this generation. Counts once: whoever asks
    /// again has a reason to look closer.
    pub(crate) async fn spares(&self, uid: &str, generation: i64) -> bool {
        let mut surveyed = self.surveyed.subscribe();
        // The sender lives as long as `self`; a survey that takes too long is not waited for.
        let _ = timeout(PATIENCE, surveyed.wait_for(|done| *done)).await;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.remove(uid) == Some(generation)
    }
}
