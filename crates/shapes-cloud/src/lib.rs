//! A cloud that makes shapes: a plain HTTP API of the kind that operators have to tame.
//!
//! It makes, shows, lists, changes and removes shapes, gives them ids of its own, and has the vices
//! of real clouds, each of which can be switched on: what was just made cannot be seen yet, replies
//! get lost, calls are slow or fail or are too many, there are no labels or no idempotency tokens.
//! Anybody may change or remove anything; that is the point.
//!
//! ```text
//! router ─▶ vices (slow, busy, fails, loses the reply) ─▶ Cloud: shapes, history
//! ```
//!
//! Read [`wire`] (what goes over the wire), then [`cloud`], then [`vices`] and [`server`].

pub mod cloud;
mod query;
pub mod server;
pub mod vices;
pub mod wire;

pub use cloud::{Cloud, Deed, Refusal, Verb};
pub use query::Query;
pub use server::{router, serve};
pub use vices::Vices;
pub use wire::{Change, NewShape, Page, Problem, Shape};
