//! The simulated cluster as its clients see it.

mod access;
mod admission;
mod apply;
mod arbitrary;
mod builtin;
mod client;
mod crashes;
mod custom;
mod kube_rs;
mod lifecycle;
mod likeness;
mod lists;
mod objects;
mod probes;
mod restart;
mod watch;
mod workloads;
