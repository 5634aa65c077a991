//! The promises of every trait, on every database: one noun, one file.

mod assignments;
mod audit;
mod control;
mod deployments;
mod diffs;
mod events;
mod health;
mod keys;
mod lists;
mod names;
mod webhooks;
