//! The Agent operator as a whole.

mod golden;
