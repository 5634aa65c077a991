//! A Kubernetes API server inside the process.

pub mod ambient;
mod body;
pub mod builtin;
pub mod crd;
pub mod faults;
pub mod field_error;
pub mod merge;
pub mod patch;
mod quantity;
pub mod schema;
pub mod store;
pub mod strategy;
pub mod structural;
mod watch;

pub use body::{Body, Reset};
