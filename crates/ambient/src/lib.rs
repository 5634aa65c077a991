//! The clock and randomness, as parameters.
//!
//! Code that decides anything is *given* the time and its dice, so that a test can hold both in
//! its hand. This crate is the only place in the product that reads the real ones; `clippy.toml`
//! bans them everywhere else and names this crate as the replacement.
//!
//! ```text
//! main ── SystemClock, SystemRandom ──▶ run(…, clock, random) ◀── ManualClock, SeededRandom ── tests
//! ```
//!
//! Read [`clock`] first, then [`random`]. Beside them [`error`]: how an error is told with its causes.

pub mod clock;
pub mod error;
pub mod random;

pub use clock::{Clock, ManualClock, SharedClock, SystemClock};
pub use error::chain;
pub use random::{Random, SeededRandom, SharedRandom, SystemRandom};
