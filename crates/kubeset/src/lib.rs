//! Converge a set of Kubernetes objects under one owner
