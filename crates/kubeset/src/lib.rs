//! Converge a set of Kubernetes objects under one owner.
//!
//! A [`Set`] is everything that one owner has in a cluster. It is given the text of what should
//! be there and makes it so: validated as a whole before the first write, applied in order,
//! pruned only where ownership is proved, and free of requests while nothing changes.
//!
//! ```text
//! text ─▶ Manifests ─▶ Set::converge ─▶ engine(observe: view │ enter: dry-runs │ apply, delete) ─▶ Converged
//!                                         inventory (what may exist) ┘
//! ```
//!
//! Read in this order: [`manifest`] (what somebody wrote), `item` (resolved against
//! `discovery`, with `marks`), [`set`] (the attempt as a whole) with `world`, `look`, `validate`
//! and `write` (how the engine is served), `view` and `live` (what is known of the cluster without asking),
//! `inventory` and `sweep` (what may exist), [`fields`] and [`drift`] (what others did), [`health`].
//!
//! # How drift is seen without asking
//!
//! Every object carries a *seal*: the hash of what was applied, and the fingerprint of the fields
//! that we owned right after. The dry-run before a write tells that fingerprint, so the seal is
//! part of the same write. Kubernetes takes a field out of our `managedFields` entry when anybody
//! changes or removes it, so a metadata watch shows that fingerprint and seal differ.

mod calls;
mod cluster;
mod discovery;
pub mod drift;
mod error;
pub mod fields;
pub mod health;
mod inventory;
mod item;
mod key;
mod live;
mod look;
pub mod manifest;
mod marks;
mod rank;
mod resource;
pub mod set;
mod sweep;
mod validate;
mod view;
mod world;
mod write;

pub use cluster::{Cluster, Settings};
pub use drift::{DriftRecord, Fight, Ignore};
pub use error::Error;
pub use evenkeel_manifest::{ManifestError, Place};
pub use fields::LostField;
pub use health::{Health, SetHealth};
pub use key::{GroupKind, ObjectKey};
pub use manifest::{Manifest, Manifests, Warning};
pub use marks::{BadOwner, Owner};
pub use set::{Converged, Set, SetPolicy};
pub use view::Rings;
