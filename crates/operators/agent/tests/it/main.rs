//! The Agent operator as a whole.

mod bed;
mod crashes;
mod definitions;
mod discovery;
mod faults;
mod golden;
mod kagent_faults;
mod references;
mod rules;
mod scenes;
