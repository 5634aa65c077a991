//! Runs AI agents as kagent resources declare them.
//!
//! An `Agent` names a model, tools and a prompt; the operator makes a Deployment, a Service and a
//! Secret of it, keeps them so, and rolls the pods when anything that the agent refers to changes.
//! It reads the resources of kagent 0.10 as they are and makes the same objects, byte for byte.
//!
//! ```text
//! Agent ──gather──▶ Resources ──translate──▶ objects ──converge──▶ cluster ──▶ conditions
//! ```
//!
//! Read in this order: [`api`] (what people write), [`translate`] (what becomes of it: a pure
//! function), [`offline`] (the same without a cluster), [`operator`] (the same in one, kept up) and
//! [`mcp`] (what servers offer). `go` knows how Go writes data.

pub mod api;
mod go;
pub mod mcp;
pub mod offline;
pub mod operator;
pub mod translate;

pub use api::crds::all as definitions;

/// On an agent: `true` keeps the operator's hands off it and its objects.
pub const PAUSE_ANNOTATION: &str = "evenkeel.io/paused";
