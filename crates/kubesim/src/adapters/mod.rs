//! The ways into a cluster: from the same process, or over the network.
//!
//! ```text
//! kube::Client::new(view, ..) ──▶ tower ─┐
//! kubectl ──▶ kubeconfig ──▶ server ─────┴──▶ View
//! ```
//!
//! `tower` makes a [`View`](crate::faults::View) a service that a Kubernetes client takes in
//! place of a connection; [`Server`] puts one on a port, plain or with TLS ([`Identity`]);
//! [`Kubeconfig`] tells programs where that is.

mod kubeconfig;
mod server;
mod subject;
#[cfg(test)]
mod tests;
mod tls;
mod tower;

pub use kubeconfig::Kubeconfig;
pub use server::Server;
pub use tls::{ClientCertificate, Identity, TlsError};
