//! A Kubernetes API server inside the process.

pub mod ambient;
pub mod schema;
pub mod store;
