//! The broker as its callers see it: through the typed client and through plain HTTP.
#![expect(clippy::unwrap_used, reason = "a test may stop short")]

mod drain;
mod first_start;
mod intake;
mod target_state;
mod wire;
mod world;
