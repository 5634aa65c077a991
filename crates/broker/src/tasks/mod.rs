//! Background work: one driver for all of it.
//!
//! Each task has a name, a purpose, a period and a typed last result that anybody may look at
//! (`GET /admin/tasks`). Work that only one broker should do at a time is leased; a broker that
//! dies loses its lease and another goes on.
//!
//! ```text
//! driver ── every period, or when woken ──▶ [lease] ──▶ task ──▶ Board
//! ```
//!
//! Read [`driver`] first; the tasks are [`signs`], [`deliveries`] and [`retention`].

mod board;
mod deliveries;
mod driver;
mod retention;
mod signs;

pub(crate) use board::Board;
pub(crate) use driver::{Task, all, drive};
pub(crate) use signs::write_down as write_signs;
