//! The simulated cluster as its clients see it.

mod apply;
mod client;
mod crashes;
mod lifecycle;
mod objects;
mod restart;
mod watch;
