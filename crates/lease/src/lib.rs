//! A Kubernetes Lease held by one process at a time.
