//! Controllers for Kubernetes, written in an afternoon.
//!
//! Say which objects a controller is for, what they own and refer to, and write one function that
//! brings the world to what one object says. This crate follows the cluster, decides when that
//! function runs, keeps its view from going back in time, and reports.
//!
//! ```text
//! Stream (list, watch) ─▶ Store ─▶ owners, index ─▶ Queue ─▶ run: Reconciler(object, Context) ─▶ Outcome
//!       Caches: shared ┘     own writes shown first ┘           Lease: one process runs ┘
//! ```
//!
//! Read `examples/greeting.rs` first: a whole controller in a hundred lines. Then [`reconciler`],
//! [`controller`], [`context`] with `status`, `events` and `object`, and [`manager`]; underneath
//! lie `stream`, `store`, `index` and `writes`.
//!
//! # What it promises, each a test
//!
//! Nothing runs before what it reads was listed. Nothing known gets older. A run sees what earlier
//! runs of its object wrote. Whatever vanishes while a watch is down wakes its owner. One kind that
//! cannot be watched slows no other. One object that fails, hangs or panics slows no other. No
//! request is sent twice. After a lost lease no request is sent at all.

mod background;
mod cache_numbers;
mod caches;
pub mod client;
pub mod context;
pub mod controller;
mod error;
mod events;
mod index;
mod key;
pub mod manager;
mod metrics;
mod object;
mod owner;
pub mod predicate;
mod rbac;
pub mod reconciler;
mod run;
mod schema;
mod status;
mod store;
mod stream;
mod watched;
mod writes;

pub use background::Leading;
pub use client::connect;
pub use context::{Context, Known};
pub use controller::Controller;
pub use error::{Error, NotKnown};
pub use evenkeel_reconcile::{
    Classify, Condition, ErrorClass, Outcome, ReasonWord, Status, Verdict,
};
pub use events::Told;
pub use key::{Key, ResourceId, Revision};
pub use manager::{Ended, Manager};
pub use object::is_held;
pub use rbac::{Rights, Verb};
pub use reconciler::{Ran, Reconciler};
pub use schema::conditions_schema;
pub use status::Conditions;
pub use stream::StreamState;
pub use watched::{Metadata, Watch, Watched};
