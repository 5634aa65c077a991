//! Clusters, databases, fixtures and faults for tests.
//!
//! Whatever a test starts here is private to it, sits on free ports, and is gone when the test
//! ends, also when it panics or is killed. What a machine cannot provide is skipped, loudly.
//!
//! ```text
//! test ──▶ Cluster        a simulated cluster, or a real one where the machine has it
//!      ──▶ RealCluster    etcd, API server, controllers, pretended nodes
//!      ──▶ Postgres       a private server, one database per test
//!      ──▶ faults         any operator, any story, a crash at every write
//!      ──▶ scenario       one suite of requests for every cluster, and the replies of a real one
//! ```
//!
//! Read [`Cluster`], [`real`] and [`postgres`] first, then [`scenario`] and [`faults`]; [`skip()`] is what a test
//! calls when the machine lacks something.

mod clock;
mod cluster;
mod environment;
pub mod faults;
mod kubectl;
pub mod postgres;
mod process;
pub mod real;
mod report;
pub mod scenario;

pub use clock::VirtualClock;
pub use cluster::{Cluster, Simulated, on_each_cluster, real_cluster_or_skip};
pub use kubectl::{kubectl, kubectl_with};
pub use postgres::Postgres;
pub use process::ProcessError;
pub use real::RealCluster;
pub use report::{note, skip};
