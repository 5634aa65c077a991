//! The Agent operator as a whole.

mod bed;
mod golden;
mod scenes;
