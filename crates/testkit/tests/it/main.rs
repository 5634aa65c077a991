//! The test kit, tried on what it starts.

mod intents;
mod kubectl;
mod postgres;
mod real;
mod scenarios;
mod sequences;
