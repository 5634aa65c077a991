//! The Agent operator as a whole.

mod bed;
mod definitions;
mod discovery;
mod faults;
mod golden;
mod references;
mod rules;
mod scenes;
