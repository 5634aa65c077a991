//! What a cluster knows: objects, one revision, and what changed lately.
//!
//! Every commit raises the cluster's one revision by one and leaves one [`Event`] in the log of
//! its resource; the log is bounded. Readers take [`Snapshot`]s, which later commits do not
//! touch; because every event keeps what it replaced, a snapshot of any revision that the log
//! still reaches can be had by walking the events back.
//!
//! ```text
//! commit ──▶ table of the resource ──▶ event ──▶ log ──▶ subscriptions
//!                 └──▶ snapshot                  └──▶ file (optional)
//! ```
//!
//! Read `key`, `event` and `table` first, then `state` and `handle`; `file` keeps a store across
//! restarts.

mod event;
mod file;
mod handle;
mod key;
mod state;
mod subscription;
mod table;
#[cfg(test)]
mod tests;

pub use event::Event;
pub use file::FileError;
pub use handle::{Pinned, Store};
pub use key::{Key, ResourceId};
pub use state::CommitError;
pub use subscription::Subscription;
pub use table::{Expired, Objects, Snapshot};

/// The cluster's one counter. The first commit makes revision 1.
pub type Revision = u64;

/// An object as stored: `metadata.resourceVersion` is set inside and never out of step.
pub type Object = std::sync::Arc<serde_json::Value>;
