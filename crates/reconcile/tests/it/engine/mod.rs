//! The loop on a model world: what it decides, what it does, and what survives a crash.

mod acting;
mod brake;
mod deciding;
mod histories;
mod model;
