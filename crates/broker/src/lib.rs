//! The broker: the control plane of a fleet.
//!
//! It keeps what people declared, tells each agent what to hold, and remembers what the agents
//! said. Writing goes through the store; asking "has anything changed?" is answered from memory,
//! so an idle fleet costs nothing.
//!
//! ```text
//! request ─▶ observe ─▶ auth ─▶ routes/<noun> ─▶ service/<noun> ─▶ store
//!                                       └─▶ fleet (memory) ◀── change feed ──┘
//! ```
//!
//! Read [`run`] (how it starts), [`router`] (the route table), [`auth`] (who may do what), then
//! [`fleet`] (how polls are answered from memory) and any noun in [`service`]. [`webhook`] and
//! [`tasks`] work in the background.

mod app;
mod auth;
mod bootstrap;
mod bucket;
pub mod config;
mod error;
mod extract;
mod fleet;
mod metrics;
mod observe;
mod openapi;
mod pak;
mod panic;
mod refusals;
mod respond;
mod router;
mod routes;
mod run;
mod server;
mod service;
mod tasks;
mod texts;
mod webhook;

pub use bootstrap::FirstKey;
pub use config::Config;
pub use run::{Broker, Parts, StartError};

/// The OpenAPI description of everything that a broker answers.
pub fn openapi() -> utoipa::openapi::OpenApi {
    router::document()
}
