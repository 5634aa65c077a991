//! One noun, one file: the trait, then the SQL behind it.
//!
//! Every write does three things in one transaction: it checks what it refers to, changes its
//! rows, and records the [fact](crate::fact), from which audit log, change feed and webhooks
//! follow. Functions that take a `Transaction` are the parts that one noun lends another.

pub(crate) mod agents;
pub(crate) mod assignments;
pub(crate) mod audit;
pub(crate) mod control;
pub(crate) mod deliveries;
pub(crate) mod deployments;
pub(crate) mod diffs;
pub(crate) mod drift;
pub(crate) mod events;
pub(crate) mod generators;
pub(crate) mod health;
pub(crate) mod heartbeats;
pub(crate) mod keys;
pub(crate) mod leases;
mod living;
pub(crate) mod registrations;
pub(crate) mod retention;
pub(crate) mod stacks;
pub(crate) mod status;
pub(crate) mod tags;
pub(crate) mod targets;
pub(crate) mod webhooks;
