//! What can be wrong with a manifest.

use crate::{Identity, Place};

/// Why a manifest was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// There is nothing in it.
    #[error("the manifest has no documents")]
    Empty,
    /// It is too long.
    #[error("the manifest has {bytes} bytes, {limit} are allowed")]
    TooLarge {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// It has too many documents.
    #[error("the manifest has more than {limit} documents")]
    TooMany {
        /// How many it may have.
        limit: usize,
    },
    /// It is not YAML.
    #[error("{place}: {problem}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the parser said.
        problem: String,
    },
    /// A document or an item of a list is not an object.
    #[error("{place}: a mapping is expected, not {found}")]
    NotAnObject {
        /// Where.
        place: Place,
        /// What it is instead.
        found: &'static str,
    },
    /// A field that every object must have is missing, empty or no text.
    #[error("{place}: `{field}` of {what} must be a text that is not empty")]
    Missing {
        /// Where.
        place: Place,
        /// The kind and name, as far as they are there.
        what: String,
        /// Which field.
        field: &'static str,
    },
    /// A name that the server is to choose makes another object each time.
    #[error("{place}: {what} has `metadata.generateName`, but needs a name that stays the same")]
    GenerateName {
        /// Where.
        place: Place,
        /// The kind and name, as far as they are there.
        what: String,
    },
    /// `apiVersion` is neither `version` nor `group/version`.
    #[error("{place}: {what} has the unreadable `apiVersion` {api_version:?}")]
    ApiVersion {
        /// Where.
        place: Place,
        /// The kind and name, as far as they are there.
        what: String,
        /// What it says.
        api_version: String,
    },
    /// The same object is described twice.
    #[error("{place}: {id} is already described on {}", first.line_first())]
    Duplicate {
        /// Where.
        place: Place,
        /// What both describe.
        id: Box<Identity>,
        /// Where it is described first.
        first: Place,
    },
}

impl ManifestError {
    /// Where to look, unless it is the whole that is at fault.
    pub const fn place(&self) -> Option<Place> {
        match self {
            Self::Empty | Self::TooLarge { .. } | Self::TooMany { .. } => None,
            Self::Syntax { place, .. }
            | Self::NotAnObject { place, .. }
            | Self::Missing { place, .. }
            | Self::GenerateName { place, .. }
            | Self::ApiVersion { place, .. }
            | Self::Duplicate { place, .. } => Some(*place),
        }
    }
}
