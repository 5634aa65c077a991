//! What commands show: each noun of the fleet with its columns.
//!
//! ```text
//! client ──▶ StackRow, AgentRow, … ── columns ──▶ output
//! ```
//!
//! Read [`stack`] first: the others follow its pattern.

pub(crate) mod agent;
pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod context;
pub(crate) mod drift;
pub(crate) mod event;
pub(crate) mod generator;
pub(crate) mod object;
pub(crate) mod progress;
pub(crate) mod revision;
pub(crate) mod stack;
pub(crate) mod tie;
