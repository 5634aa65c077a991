//! Runs PostgreSQL as `Database` resources declare it.
//!
//! A Database becomes a StatefulSet with its Services, settings and a disruption budget, all owned
//! by it; a Secret that is made once; and volumes that outlive it unless people say otherwise. With
//! several replicas the first server is the primary and the others are streaming standbys. There is
//! no failover: when the primary is gone, the status says so until it is back.
//!
//! ```text
//! Database ─▶ observe ─▶ credentials │ storage │ children │ roles ─▶ act ─▶ conditions
//! ```
//!
//! Read in this order: [`resource`] and [`status`] (what people see), [`names`], [`children`] (what
//! a Database becomes, with the start script), [`credentials`] and [`storage`] (what must never be
//! lost; [`passwords`] talks to the server), [`roles`] and [`stuck`] (the pods), [`verdict`]; then
//! the loop: `controller` (what wakes it), `observe`, `operator`, `act`, `findings`, `farewell`,
//! `report`.

mod act;
pub mod children;
mod controller;
pub mod credentials;
mod definitions;
mod error;
mod farewell;
mod findings;
pub mod names;
mod observe;
mod operator;
pub mod passwords;
pub mod quantity;
mod report;
pub mod resource;
pub mod roles;
pub mod status;
pub mod storage;
pub mod stuck;
pub mod verdict;

pub use children::Children;
pub use controller::controller;
pub use definitions::definitions;
pub use error::Error;
pub use operator::DatabaseOperator;
pub use resource::{Database, DatabaseSpec};
pub use status::{DatabaseStatus, Phase};
