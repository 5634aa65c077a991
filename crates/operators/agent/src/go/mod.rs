//! What Go does to data, done the same way.
//!
//! The bytes that agents read, and the hash of them that decides whether pods are restarted, are
//! defined by how the Go of kagent writes and reads them. These modules know how; they know nothing
//! of agents.
//!
//! ```text
//! text ──▶ duration │ url │ quantity ──▶ values ──▶ json │ template ──▶ bytes
//! ```

pub(crate) mod duration;
pub(crate) mod json;
pub(crate) mod object;
pub(crate) mod path;
pub(crate) mod quantity;
pub(crate) mod template;
pub(crate) mod url;
