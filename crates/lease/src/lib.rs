//! A Kubernetes Lease that one process holds at a time.
//!
//! An [`Elector`] stands for a lease, works while it holds it, and lets go in time: its [`Term`]
//! ends *before* any other may take over, and work that has not ended by then is cut off. Nobody's
//! clock is trusted: how long a lease has been silent is measured by whoever wants it.
//!
//! ```text
//! stand ─▶ acquire ─▶ work(Term) ∥ renew ─▶ release        (no renewal in time: the term ends, work is dropped)
//! ```
//!
//! Read [`timing`] first (three numbers and why they are safe), then [`elector`], then [`term`] and
//! [`fence`](mod@fence), which refuses every request of a client whose term has ended.

pub mod elector;
pub mod fence;
mod record;
pub mod term;
pub mod timing;

pub use elector::{Elector, LeaseName, Led, Standing};
pub use fence::{NotHeld, fence};
pub use term::Term;
pub use timing::Timing;
