//! Something that an operator writes to and that can let it die at its k-th write.

use evenkeel_kubesim::faults::{Moment, View};
use futures::FutureExt;
use futures::future::BoxFuture;

/// Something that an operator writes to and that can let it die at its k-th write.
pub trait World: Send + Sync {
    /// What it is, for messages.
    fn name(&self) -> &'static str;

    /// How many writes came since the last reset.
    fn writes(&self) -> u64;

    /// What the writes were, for messages.
    fn written(&self) -> Vec<String>;

    /// Counts anew.
    fn reset(&self);

    /// Lets the operator die at its `write`-th write from now, counted from 1.
    fn crash_at(&self, write: u64, moment: Moment);

    /// Waits until it has died.
    fn crashed(&self) -> BoxFuture<'_, ()>;

    /// Ends every fault.
    fn heal(&self);
}

impl World for View {
    fn name(&self) -> &'static str {
        "Kubernetes"
    }

    fn writes(&self) -> u64 {
        self.log().writes()
    }

    fn written(&self) -> Vec<String> {
        let log = self.log();
        let writes = log.entries().filter(|entry| entry.call.is_write());
        writes.map(|entry| entry.call.to_string()).collect()
    }

    fn reset(&self) {
        self.reset_log();
    }

    fn crash_at(&self, write: u64, moment: Moment) {
        Self::crash_at(self, write, moment);
    }

    fn crashed(&self) -> BoxFuture<'_, ()> {
        Self::crashed(self).boxed()
    }

    fn heal(&self) {
        Self::heal(self);
    }
}
