//! The agent with a broker and a cluster, from end to end: each line of the specification.
//!
//! Tests run on simulated and real clusters, with a broker on SQLite and on PostgreSQL; those that
//! need faults, or count requests, on simulated clusters alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod apply;
mod control;
mod deletion;
mod drift;
mod existing;
mod failure;
mod fleet;
mod health;
mod killed;
mod restart;
mod restored;
mod rights;
