//! The `evenkeel` command, run as a person runs it.

mod broker;
mod operator;
mod running;
mod up;
