//! Who manages which field of an object, and server-side apply.
//!
//! Every write leaves a trace in `metadata.managedFields`: the set of fields that its writer
//! manages. Applying an object takes fields over, refuses what others hold at another value, and
//! removes what the same applier no longer says.
//!
//! ```text
//! intent + live --combine--> merged --prune--> new --compare with live--> managers, conflicts
//! ```
//!
//! Read `path` and `set` (fields and sets of them), `types` (how a schema makes values be
//! walked), the four walks `owned`, `combine`, `remove` and `compare`, then
//! `managers`, `track` and `apply`.

mod apply;
mod check;
mod combine;
mod compare;
mod conflict;
mod fields_v1;
mod managers;
mod owned;
mod path;
mod prune;
mod remove;
mod reset;
mod scalar;
mod set;
mod track;
mod types;

pub use apply::{ApplyError, apply};
pub use check::TypeErrors;
pub use conflict::{Conflict, Conflicts};
pub use reset::ResetFields;
pub use track::{Writer, keep_times, track};

#[cfg(test)]
mod tests;
