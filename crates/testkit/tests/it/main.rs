//! The test kit, tried on what it starts.

mod kubectl;
mod postgres;
mod real;
mod scenarios;
