//! Handlers: extract, call the service, convert. One noun, one file.

pub(crate) mod admin;
pub(crate) mod agent;
pub(crate) mod auth;
pub(crate) mod control;
pub(crate) mod deployment;
pub(crate) mod diff;
pub(crate) mod event;
pub(crate) mod fleet;
pub(crate) mod generator;
pub(crate) mod health;
pub(crate) mod operations;
pub(crate) mod stack;
pub(crate) mod tag;
pub(crate) mod target;
pub(crate) mod target_state;
pub(crate) mod webhook;
