//! The agent: the part of Evenkeel that runs beside one cluster.
//!
//! It asks the broker what the cluster is to hold, makes it so, and says how that went. It can do
//! without the broker for as long as need be: what it was last told is kept in the cluster, and
//! from that it goes on. One replica works at a time, the one that holds the lease.
//!
//! ```text
//! broker ─▶ pull ─▶ target ─▶ memory ─▶ stacks ─key─▶ converge ─▶ kubeset ─▶ cluster
//!    ▲                                    └────key─▶ health          │
//!    └──────── outbox: events, health, drift ◀── account ◀───────────┘
//! ```
//!
//! Read [`mod@run`] (how it starts and stops) and [`shift`] (all that goes on while the lease is
//! held), then follow the picture: [`pull`], [`target`] (what an answer means), [`memory`],
//! [`stacks`], [`converge`], [`account`] (what is told of an attempt), [`outbox`], [`health`].
//! [`heartbeat`], [`diffs`], [`metrics`] and [`settings`] stand beside.

mod account;
mod cluster;
mod converge;
mod diffs;
mod health;
mod heartbeat;
mod identity;
mod memory;
mod metrics;
mod outbox;
mod policy;
mod pull;
mod run;
pub mod settings;
mod shift;
mod stacks;
mod target;
mod words;

pub use run::{Error, Parts, run};
pub use settings::Settings;
