//! Clusters, databases, fixtures and faults for tests.
//!
//! Whatever a test starts here is private to it, sits on free ports, and is gone when the test
//! ends, also when it panics or is killed. What a machine cannot provide is skipped, loudly.
//!
//! ```text
//! test ──▶ Postgres        a private server, one database per test
//! ```
//!
//! Read [`postgres`] first; [`skip`] is what a test calls when the machine lacks something.

mod environment;
pub mod postgres;
pub mod process;
mod skip;

pub use postgres::Postgres;
pub use process::ProcessError;
pub use skip::skip;
