//! Two or more electors and one lease, in simulated and in real clusters.

mod election;
mod faults;
mod real;
mod safety;
mod stage;
