//! The engine from outside.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, its fixtures too"
)]

mod engine;
mod runner;
