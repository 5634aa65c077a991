//! The `evenkeel` command, run as a person runs it.

mod running;
mod up;
