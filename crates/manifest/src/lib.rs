//! Kubernetes manifests as people write them, read strictly.
//!
//! A manifest is YAML text of one or more documents. Each must name an object (`apiVersion`,
//! `kind`, `metadata.name`) and none twice; what is wrong is said with the number of the document
//! and the line, because that is where a person will look. Whatever the bytes are, the answer is
//! an error and never a panic, and it takes no more memory than the limits allow.
//!
//! ```text
//! text ── parse(limits) ──▶ [Document { line, id: Identity, object }] | ManifestError
//! ```
//!
//! Read [`parse`] first, then [`Identity`].

mod document;
mod error;

pub use document::{Document, Identity, Limits, parse};
pub use error::ManifestError;
