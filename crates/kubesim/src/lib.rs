//! A Kubernetes API server inside the process.

pub mod ambient;
pub mod field_error;
pub mod schema;
pub mod store;
pub mod strategy;
