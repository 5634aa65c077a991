//! One suite for the simulated and the real cluster.
//!
//! A scenario is data: requests, waits and watches, in a YAML file under `scenarios/`. The runner
//! plays it against any cluster and keeps normalised replies; the replies of the real server are
//! committed under `recorded/`, and whatever differs from them is a fault of the simulator or a
//! line in its `GAPS.md`.
//!
//! ```text
//! scenarios/*.yaml ──▶ run(scenario, clients) ──▶ [Reply] ── normalise ──▶ compare ◀── recorded/*.json
//! ```
//!
//! Read [`model`] for what a scenario can say, then [`runner`], [`normalise`] and [`compare`];
//! [`library`] reads and writes the files.

mod clients;
pub mod compare;
pub mod library;
pub mod model;
pub mod normalise;
mod places;
mod reply;
pub mod runner;
mod template;

pub use clients::Clients;
pub use compare::{Difference, differences};
pub use library::{Library, Recording};
pub use model::{Scenario, Step};
pub use normalise::Normaliser;
pub use reply::Reply;
pub use runner::{play_all, run};
