//! What runs, and how it is stopped.

use async_trait::async_trait;
use serde_json::Value;

/// Something that runs until it is stopped.
#[async_trait]
pub(super) trait Part: Send {
    /// What it is called among the others.
    fn name(&self) -> &'static str;

    /// What programs should know of it.
    fn told(&self) -> Value;

    /// What people should know of it: lines of a table, with its title.
    fn shown(&self) -> String;

    /// Ends it in good order.
    async fn stop(self: Box<Self>);
}

/// Everything that runs, in the order in which it was started.
#[derive(Default)]
pub(super) struct Parts(Vec<Box<dyn Part>>);

impl Parts {
    /// One more.
    pub(super) fn add(&mut self, part: impl Part + 'static) {
        self.0.push(Box::new(part));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &dyn Part> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Stops everything, the last one first.
    pub(super) async fn stop(self) {
        for part in self.0.into_iter().rev() {
            part.stop().await;
        }
    }
}
