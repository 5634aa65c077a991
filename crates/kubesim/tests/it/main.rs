//! The simulated cluster as its clients see it.

mod client;
mod crashes;
mod lifecycle;
mod objects;
mod restart;
mod watch;
