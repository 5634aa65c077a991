//! A Kubernetes API server inside the process.

pub mod ambient;
mod body;
pub mod faults;
pub mod field_error;
pub mod merge;
pub mod patch;
pub mod schema;
pub mod store;
pub mod strategy;
mod watch;

pub use body::{Body, Reset};
