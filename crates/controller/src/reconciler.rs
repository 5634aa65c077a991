//! What a controller's author writes.

use std::future::Future;
use std::sync::Arc;

use evenkeel_reconcile::{Classify, Outcome};

use crate::context::Context;
use crate::key::Key;
use crate::watched::Watched;

/// How a run ended. An error is a retry, or terminal if it says of itself that it is permanent.
pub type Ran<E> = Result<Outcome<E>, E>;

/// Brings the world to what one object says. Called again and again, with the object and never
/// with an event: it looks at what is, and does what is missing.
pub trait Reconciler: Send + Sync + 'static {
    /// The kind of the objects.
    type Kind: Watched;
    /// What can go wrong.
    type Error: Classify + std::error::Error + Send + Sync + 'static;

    /// Brings the world to what `object` says.
    fn reconcile(
        &self,
        object: Arc<Self::Kind>,
        cx: Context,
    ) -> impl Future<Output = Ran<Self::Error>> + Send;

    /// The object is gone; forget what was remembered about it. What has to be cleaned up *before*
    /// it goes takes a finalizer.
    fn gone(&self, key: &Key) {
        let _ = key;
    }
}
