//! Programs that tests start: each with its own directory, none left behind.
//!
//! ```text
//! test ── Nest (one temporary directory) ──▶ Guarded (one program, one directory in it) ── dies with the test
//! ```
//!
//! [`guarded`] runs a program, [`ports`] finds it a place to listen.

mod guarded;
mod ports;

pub use guarded::ProcessError;
pub(crate) use guarded::{Guarded, Nest, StopSignal};
pub(crate) use ports::free_port;
