//! Kubernetes manifests as people write them, read strictly.
//!
//! A manifest is YAML or JSON text of one or more documents. Each must name an object (`apiVersion`,
//! `kind`, `metadata.name`) or be a list of objects, and none may be named twice; what is wrong is
//! said with the number of the document and the line, because that is where a person will look.
//! Whatever the bytes are, the answer is an error and never a panic, and it takes no more memory
//! than the limits allow. Who takes manifests in and who applies them both read them here, so that
//! what the one accepts the other understands.
//!
//! ```text
//! text ── yaml ──▶ values ── lists flattened, named, once each ──▶ [Document] | ManifestError
//! ```
//!
//! Read [`parse`] first, then [`Identity`], then `yaml` (where documents end, what `0644` means).

mod document;
mod error;
mod identity;
mod place;
mod yaml;

pub use document::{Document, Limits, objects, parse};
pub use error::ManifestError;
pub use identity::Identity;
pub use place::Place;
