//! What can be done with each noun, and who may do it. One noun, one file, named as its routes
//! and its table are.

mod agent;
mod audit;
mod bound;
mod control;
mod deployment;
mod diff;
mod event;
mod fleet;
mod generator;
mod health;
mod key;
mod stack;
mod tag;
mod target;
mod target_state;
mod webhook;

pub(crate) use deployment::Submission;
pub(crate) use target_state::{Answer, Asked};
