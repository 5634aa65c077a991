//! A Kubernetes API server inside the process.

pub mod adapters;
pub mod ambient;
mod body;
pub mod builtin;
mod cluster;
pub mod crd;
mod discovery;
pub mod faults;
pub mod field_error;
mod lifecycle;
pub mod merge;
mod meta;
pub mod patch;
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
#[cfg(test)]
mod toy;
mod verbs;
mod watch;

pub use body::{Body, Reset};
pub use cluster::{Cluster, Pace};
pub use registry::Verb;
pub use status::{ApiError, Cause, Details};
