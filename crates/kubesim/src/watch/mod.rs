//! A watch: the events of one resource as the stream of JSON lines that a client reads.
//!
//! A [`Lens`] says which objects the client selected and in which form it wants them; what
//! enters or leaves the selection is told as added or deleted. Bookmarks, the time limit and
//! the end run on tokio's time.
//!
//! ```text
//! Feed ──▶ transition (selected before? after?) ──▶ line ──▶ chunk of the body
//! ```
//!
//! Read `transition`, then `line`, then `stream`.

mod line;
mod stream;
#[cfg(test)]
mod tests;
mod transition;

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use crate::store::{Key, Revision};

pub(crate) use stream::watch;

/// What a client wants to see of a resource's objects.
pub(crate) trait Lens: Send + Sync + 'static {
    /// Whether the client selected the object, by namespace, labels and fields.
    fn selects(&self, key: &Key, object: &Value) -> bool;

    /// The object in the version and form that the client wants. Borrowed when that is the
    /// stored one, which many watchers then share the cost of writing.
    fn show<'a>(&self, object: &'a Value) -> Cow<'a, Value>;

    /// A bookmark in the form that the client wants.
    fn show_bookmark(&self, bookmark: Value) -> Value {
        bookmark
    }

    /// `apiVersion` and `kind` of the objects that it shows.
    fn kind(&self) -> (&str, &str);
}

/// Where a watch starts and how it goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) start: Start,
    /// Whether the client understands bookmarks.
    pub(crate) bookmarks: bool,
    /// When the server ends the watch; as a real server, it does so after half an hour or more
    /// when the client does not say.
    pub(crate) timeout: Option<Duration>,
}

/// Where a watch starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// With what happens after this revision.
    After(Revision),
    /// With every object that there is, each told as added (`resourceVersion` 0 or none).
    State,
    /// The same, and then a bookmark which says that this was all (`sendInitialEvents`).
    StateWithEnd,
}
