//! The `evenkeel` command, run as a person runs it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agent_run;
mod agents;
mod apply;
mod broker;
mod contexts;
mod control;
mod deleting;
mod diff;
mod doctor;
mod fleet;
mod generators;
mod help;
mod lists;
mod operator;
mod operator_live;
mod running;
mod shapes;
mod stories;
mod terminal;
mod up;
