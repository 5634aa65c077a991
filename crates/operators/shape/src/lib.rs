//! Keeps the shapes of a cloud API as `Shape` resources declare them.
//!
//! The second world of the engine, and one that is not Kubernetes: a cloud over HTTP that gives out
//! ids, shows new things late, loses replies, and that others use too. The operator makes what is
//! declared, re-asserts what others change or remove, cleans up what was left behind, and never
//! touches what it cannot prove to be its own.
//!
//! ```text
//! Shape ─▶ Keeper: hold ─▶ intent ─▶ OneShape (engine: observe, compare, act) ─▶ status
//! cloud ─▶ survey (engine: compare, all at once) ─▶ wake what differs; Orphans ─▶ remove what is nobody's
//! ShapeRef without Shape ─▶ Dangling ─▶ remove
//! ```
//!
//! Read [`resource`] (what people declare), [`checkpoint`] (intent and outcome), [`marking`] (whose
//! is it?), `world`, then [`keeper`], [`survey`] with [`orphans`], [`dangling`], and [`operator`].

pub mod checkpoint;
pub mod cloud;
pub mod dangling;
pub mod error;
pub mod keeper;
mod key;
pub mod marking;
mod notebook;
pub mod operator;
pub mod orphans;
pub mod resource;
pub mod settings;
mod subject;
pub mod survey;
mod verdict;
mod verified;
mod world;

pub use checkpoint::{Checkpoint, Progress};
pub use cloud::{Transport, over_http};
pub use error::{CloudError, Error};
pub use keeper::FINALIZER;
pub use key::ShapeKey;
pub use marking::Marking;
pub use operator::{add_to, definitions};
pub use resource::{DeletionPolicy, Form, Shape, ShapeRef, ShapeRefSpec, ShapeSpec, ShapeStatus};
pub use settings::{OrphanMode, Orphanage, Settings};
