//! A fleet in one process: a broker, clusters, and an agent in each.
//!
//! For tests and benchmarks that want to say what happens and not how it is set up. Whatever is
//! waited for is waited for as long as a slow machine needs, and then named; nothing is measured
//! with a clock.
//!
//! ```text
//! let fleet = Fleet::start().await;                       a broker on SQLite
//! let shop  = fleet.stack("shop").await;                  a stack of its only tenant
//! let east  = fleet.site("east", &cluster).await;         a cluster with an agent that runs
//! east.serves(&shop).await;
//! let one   = shop.submit(&map("config", "a", "1")).await;
//! east.reaches(&one).await;
//! ```
//!
//! Read [`fleet`], then [`site`] (what can be done to an agent), [`stack`] and [`objects`]
//! (what can be seen in a cluster); [`ground`] runs one test on every kind of cluster and database;
//! [`crowd`] is many clusters at once.
//! These panic where a test would.

#![expect(
    clippy::unwrap_used,
    reason = "made for tests: what cannot go on should stop"
)]

pub mod crowd;
pub mod fleet;
pub mod ground;
pub mod objects;
pub mod site;
pub mod stack;
mod wait;

pub use fleet::Fleet;
pub use ground::Ground;
pub use objects::{Objects, map, maps, space};
pub use site::Site;
pub use stack::Stack;
pub use wait::until;
