//! The `evenkeel` command, run as a person runs it.

mod agent_run;
mod broker;
mod operator;
mod running;
mod shapes;
mod up;
