//! A real Kubernetes control plane, private to a test.
//!
//! ```text
//! RealCluster ── etcd ◀── kube-apiserver ◀── kube-controller-manager, kube-scheduler, kwok (as asked for)
//! ```
//!
//! [`binaries`] finds the programs, [`credentials`] makes certificates, tokens and kubeconfigs,
//! [`components`] starts the processes, [`cluster`] puts them together.

mod binaries;
mod cluster;
mod components;
mod credentials;

pub(crate) use binaries::Binaries;
pub use binaries::MissingBinaries;
pub use cluster::{RealCluster, RealClusterBuilder, RealClusterError};
pub use components::{LIFECYCLE_CONTROLLERS, WORKLOAD_CONTROLLERS};
pub use credentials::User;
