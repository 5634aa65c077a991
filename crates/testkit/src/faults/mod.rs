//! Faults for any operator: crashes around every write, old views, lost events.
//!
//! Say how an operator is started, what people do, and what the world looks like in the end; the
//! harness runs that story undisturbed once, and then again with each fault at each place. The end
//! must be the same, and a further start of the operator must write nothing.
//!
//! ```text
//! Subject (story, operator, end) ─▶ crash_everywhere │ old_views │ lost_events ─▶ Explored
//! kubesim View, or Gate before any HTTP service ─▶ World: counts writes, dies at the k-th
//! ```
//!
//! Read [`harness`] first, then [`world`] and [`gate`]. Runs in paused time: hours cost nothing.

pub mod gate;
pub mod harness;
pub mod world;

pub use gate::Gate;
pub use harness::{Explored, Subject, crash_everywhere, lost_events, old_views};
pub use world::World;
