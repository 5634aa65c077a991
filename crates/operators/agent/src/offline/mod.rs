//! The translation without a cluster: documents in, objects out.
//!
//! ```text
//! files ──▶ Documents ──▶ Resources, Settings, the agents to show ──▶ translate
//! ```
//!
//! Documents are those of Kubernetes, or one file in the form of kagent's golden tests, which holds
//! them and says which agent is meant. See [`Documents`].

mod defaults;
mod documents;
mod resource;

pub use documents::{AgentName, Documents, OfflineError};
