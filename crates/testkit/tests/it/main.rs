//! The test kit, tried on what it starts.

mod postgres;
mod real;
mod scenarios;
