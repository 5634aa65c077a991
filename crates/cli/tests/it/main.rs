//! The `evenkeel` command, run as a person runs it.

mod broker;
mod running;
mod up;
