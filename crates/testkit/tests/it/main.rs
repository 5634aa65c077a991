//! The test kit, tried on what it starts.

mod chart;
mod intents;
mod killed;
mod kubectl;
mod postgres;
mod real;
mod scenarios;
mod sequences;
