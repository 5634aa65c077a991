//! How a long-running process is doing: health endpoints and metrics.
//!
//! A process makes [`Checks`] for what it needs and counts what it does in a Prometheus registry;
//! [`Vitals`] serves both. [`Requests`] counts what goes to Kubernetes through any `kube` client.
//!
//! ```text
//! /healthz  the process answers
//! /readyz   every named check passes, or which does not and why
//! /metrics  the registry
//! ```
//!
//! Read [`checks`], then [`server`]; [`requests`] stands beside them.

pub mod checks;
pub mod requests;
pub mod server;

pub use checks::{Check, Checks};
pub use requests::Requests;
pub use server::Vitals;
