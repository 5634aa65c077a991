//! Durable storage for the broker: one trait per noun, on SQLite or PostgreSQL.
//!
//! There is one implementation. Each noun's SQL is written once, in the part of the language that
//! both databases share, and only [`sql`] knows which of the two is open. Every write of every
//! broker passes through one writer at a time, which is what makes sequence ids ordered, checks
//! safe and the audit log complete.
//!
//! ```text
//! trait per noun ─▶ writer (queue, group commit) ─▶ transaction (ledger, audit, feed) ─▶ sql ─▶ SQLite | PostgreSQL
//! ```
//!
//! Read [`writer`] first: it holds the idea. Then [`transaction`], [`noun::assignments`] (who is
//! meant to hold what) and [`feed`] (how caches stay true); the other nouns follow one pattern.

mod database;
mod error;
mod fact;
mod feed;
mod noun;
mod page;
mod sql;
mod transaction;
mod writer;

pub use database::Database;
pub use error::{Error, Result};
pub use feed::{Changes, Since};
pub use noun::agents::{AgentFilter, Agents};
pub use noun::assignments::{Assignments, Look, Places, Snapshot};
pub use noun::audit::{Audit, AuditFilter};
pub use noun::control::Controls;
pub use noun::deliveries::{Claimed, Deliveries};
pub use noun::deployments::{Deployments, Submitted};
pub use noun::diffs::{Diffs, NewDiff};
pub use noun::drift::{DriftFilter, Drifts};
pub use noun::events::{EventFilter, Events};
pub use noun::generators::Generators;
pub use noun::health::Healths;
pub use noun::heartbeats::Heartbeats;
pub use noun::keys::Keys;
pub use noun::leases::Leases;
pub use noun::registrations::Registrations;
pub use noun::retention::{Expendable, Retention};
pub use noun::stacks::{StackFilter, Stacks};
pub use noun::status::Statuses;
pub use noun::tags::{Owner, Tags};
pub use noun::targets::Targets;
pub use noun::webhooks::Webhooks;

/// Everything that can be stored.
pub trait Store:
    Agents
    + Assignments
    + Audit
    + Changes
    + Controls
    + Deliveries
    + Deployments
    + Diffs
    + Drifts
    + Events
    + Generators
    + Healths
    + Heartbeats
    + Keys
    + Leases
    + Registrations
    + Retention
    + Stacks
    + Statuses
    + Tags
    + Targets
    + Webhooks
    + std::fmt::Debug
    + Send
    + Sync
    + 'static
{
}

impl Store for Database {}
