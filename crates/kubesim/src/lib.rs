//! A Kubernetes API server inside the process.

pub mod schema;
