//! A Kubernetes API server inside the process.
//!
//! A [`Cluster`] answers what a real API server answers, word for word where that is known: it
//! stores, defaults, validates and merges objects, serves watches and custom resources, and runs
//! the few controllers without which nothing else behaves. Clients reach it in the same process
//! or over HTTP, each through a view of its own that can be made to fail. `GAPS.md` lists what
//! is not simulated.
//!
//! ```text
//! adapters ─▶ faults (a client's view) ─▶ cluster ─▶ request, access ─▶ verbs ─▶ strategy, merge ─▶ store
//!                                                              discovery, registry ┘     lifecycle, watch ┘
//! ```
//!
//! Read `cluster` first, then `verbs` with one verb (`create` is a short one) down to
//! `writing`, then [`store`]. [`merge`] is server-side apply, [`builtin`] and [`crd`] know what
//! objects may look like, `lifecycle` is what happens after a write, [`faults`] what can go
//! wrong before it. [`workloads`], when asked for, make what is deployed come to life, and
//! `access` knows users and their rights. What only people and their tools ask for has modules of
//! its own: `tables`, `openapi`, `protobuf`; `cel` is the language of rules.

mod access;
pub mod adapters;
mod admission;
pub mod ambient;
mod body;
mod builder;
pub mod builtin;
mod cel;
mod cluster;
pub mod crd;
mod discovery;
pub mod faults;
pub mod field_error;
mod lifecycle;
pub mod merge;
mod meta;
mod openapi;
pub mod patch;
mod protobuf;
mod quantity;
mod registry;
mod reply;
mod request;
pub mod schema;
mod selectors;
mod status;
pub mod store;
pub mod strategy;
pub mod structural;
mod tables;
#[cfg(test)]
mod toy;
mod verbs;
mod watch;
mod workloads;

pub use access::User;
pub use ambient::Ambient;
pub use body::{Body, Reset};
pub use builder::ClusterBuilder;
pub use cluster::{Cluster, Pace};
pub use registry::Verb;
pub use status::{ApiError, Cause, Details};
pub use workloads::Workloads;
