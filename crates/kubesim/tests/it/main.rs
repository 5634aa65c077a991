//! The simulated cluster as its clients see it.

mod apply;
mod client;
mod crashes;
mod lifecycle;
mod likeness;
mod objects;
mod probes;
mod restart;
mod watch;
