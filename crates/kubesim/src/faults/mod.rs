//! Everything that can go wrong between a cluster and one of its clients.
//!
//! A [`View`] is one client's connection. It can show the cluster as it was (frozen, lagging),
//! tell of events late, thinned out or not at all, break watches, refuse or lose requests and
//! answers, and let the client die at its k-th write; two views of one cluster can do so
//! differently. It also counts what the client asked for.
//!
//! ```text
//! request ──▶ Call ──▶ Plan: its fate ──▶ backend ──▶ reads through Sight ──▶ watches through Feed
//! ```
//!
//! Read `view` first; `plan` decides about requests, `settings`, `sight` and `feed` about what
//! is seen.

mod call;
mod feed;
mod log;
mod plan;
mod refusal;
mod settings;
mod sight;
#[cfg(test)]
mod tests;
mod view;

pub use call::Call;
pub use feed::Feed;
pub use log::{Entry, RequestLog};
pub use plan::{Fault, Moment, Refusal, Which};
pub(crate) use refusal::in_json;
pub use settings::{Cut, Freshness, Stale};
pub use sight::Sight;
pub use view::{Backend, Lost, View};
