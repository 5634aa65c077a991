//! The simulated cluster as its clients see it.

mod client;
mod lifecycle;
mod objects;
mod watch;
