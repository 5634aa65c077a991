//! Sets on a simulated cluster and, where there is one, on a real one.

mod apply;
mod bed;
mod children;
mod definitions;
mod diff;
mod drift;
mod health;
mod incidents;
mod inventory;
mod ownership;
mod prune;
