//! What people can do: one file for each verb, or for each noun with verbs of its own.
//!
//! ```text
//! args ── Asking<Verb> ──▶ Verb::run(session) ──▶ client, output ──▶ exit code
//! ```
//!
//! Read [`apply`] first; [`source`], [`wait`] and [`ask`] are what several of them share.

pub(crate) mod agent;
pub(crate) mod apply;
mod ask;
pub(crate) mod completion;
mod contents;
pub(crate) mod context;
pub(crate) mod control;
pub(crate) mod delete;
pub(crate) mod describe;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod drift;
pub(crate) mod events;
pub(crate) mod generator;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod login;
pub(crate) mod reference;
pub(crate) mod rollback;
pub(crate) mod source;
pub(crate) mod stack;
pub(crate) mod status;
pub(crate) mod target;
pub(crate) mod version;
pub(crate) mod wait;
