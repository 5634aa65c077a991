//! Clusters, databases, fixtures and faults for tests.
//!
//! Whatever a test starts here is private to it, sits on free ports, and is gone when the test
//! ends, also when it panics or is killed. What a machine cannot provide is skipped, loudly.
//!
//! ```text
//! test ──▶ RealCluster    etcd, API server, controllers, pretended nodes
//!      ──▶ Postgres       a private server, one database per test
//!      ──▶ scenario       one suite of requests for every cluster, and the replies of a real one
//! ```
//!
//! Read [`real`] and [`postgres`] first, then [`scenario`]; [`skip()`] is what a test calls when
//! the machine lacks something.

mod environment;
pub mod postgres;
mod process;
pub mod real;
pub mod scenario;
mod simulated;
mod skip;

pub use postgres::Postgres;
pub use process::ProcessError;
pub use real::RealCluster;
pub use skip::skip;
