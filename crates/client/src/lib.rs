//! A typed client of the broker.
//!
//! One method per operation of the API, named as the operation is: `stack_create`,
//! `target_state`. What the broker refuses comes back as [`ClientError::Refused`] with its code,
//! so that a caller decides by code and never by words.
//!
//! ```text
//! Client::new(address, key) ── stack_create(&NewStack) ──▶ Result<Stack, ClientError>
//! ```
//!
//! Read [`Client`] first, then [`target_state`]; the other files follow one pattern.

mod admin;
mod agent;
mod client;
mod control;
mod diff;
mod error;
mod generator;
mod operations;
mod stack;
pub mod target_state;
mod webhook;

pub use client::Client;
pub use error::{ClientError, Result};
pub use stack::Submit;
pub use target_state::{Poll, TargetState};
