//! The agent with a broker and a cluster, from end to end: each line of the specification.
//!
//! Tests run on a simulated cluster and, where there is one, on a real one; those that need
//! faults, or count requests, on the simulated one alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod apply;
mod control;
mod deletion;
mod drift;
mod existing;
mod failure;
mod fleet;
mod health;
mod restart;
mod rights;
