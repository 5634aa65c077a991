//! The broker as its callers see it: through the typed client and through plain HTTP.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod authorisation;
mod control;
mod drain;
mod faults;
mod first_start;
mod hold;
mod intake;
mod killed;
mod openapi;
mod replicas;
mod target_state;
mod tls;
mod webhooks;
mod wire;
mod world;
