//! Defaulting, preparation and validation of the built-in kinds.
//!
//! ```text
//! strategy(group, version, kind) -> Kind (rules as data) + Schema (from the table) = Strategy
//! ```
//!
//! Read `kind` first, then one of the tables of kinds (`configuration` is the shortest). A kind
//! without an entry is served by its schema alone: see `fallback`.

mod at;
mod batch;
mod cluster;
mod configuration;
mod definitions;
mod fallback;
mod fill;
mod kind;
pub(crate) mod metadata;
pub(crate) mod names;
mod network;
mod pods;
mod policy;
mod rbac;
#[cfg(test)]
mod recorded;
mod rules;
mod selectors;
mod services;
mod storage;
mod webhooks;
mod workloads;

use std::sync::Arc;

use crate::schema::{self, Schema, Shape};
use crate::strategy::Strategy;
use kind::{BuiltIn, Kind};

pub(crate) use at::At;
pub(crate) use batch::Schedule;
pub(crate) use kind::{keep_identity, set_generation, validate_change};
pub(crate) use rules::Faults;

static KINDS: [&[Kind]; 12] = [
    &batch::KINDS,
    &cluster::KINDS,
    &configuration::KINDS,
    &definitions::KINDS,
    &network::KINDS,
    &pods::KINDS,
    &policy::KINDS,
    &rbac::KINDS,
    &services::KINDS,
    &storage::KINDS,
    &webhooks::KINDS,
    &workloads::KINDS,
];

/// How a built-in kind is prepared and judged; any kind has a strategy.
pub fn strategy(group: &str, version: &str, kind: &str, namespaced: bool) -> Arc<dyn Strategy> {
    let schema = schema::builtin(group, version, kind);
    let schema = schema.unwrap_or_else(|| Arc::new(Schema::of(Shape::Any)));
    let known = KINDS.iter().copied().flatten();
    let found = known
        .filter(|k| k.group == group && k.kind == kind)
        .copied()
        .next();
    Arc::new(BuiltIn {
        kind: found.unwrap_or_else(fallback::kind),
        namespaced,
        schema,
    })
}
