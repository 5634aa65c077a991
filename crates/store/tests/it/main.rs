//! The store, asked the same questions on every database that it runs on.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod conformance;
mod crash;
mod feed;
mod model;
mod order;
mod world;
