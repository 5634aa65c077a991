//! A Kubernetes API server inside the process
