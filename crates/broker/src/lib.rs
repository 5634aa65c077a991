//! The control plane
