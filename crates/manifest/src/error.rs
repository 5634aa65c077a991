//! What can be wrong with a manifest.

use crate::Identity;

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
    #[error("document {document}, line {line}: {problem}")]
    Syntax {
        /// Which document, from 1.
        document: usize,
        /// Which line, from 1.
        line: u64,
        /// What the parser said.
        problem: String,
    },
    /// A document is not an object.
    #[error("document {document}, line {line}: a mapping is expected, not {found}")]
    NotAnObject {
        /// Which document, from 1.
        document: usize,
        /// The line on which it begins.
        line: u64,
        /// What it is instead.
        found: &'static str,
    },
    /// A field that every object must have is missing, empty or no text.
    #[error("document {document}, line {line}: `{field}` must be a text that is not empty")]
    Missing {
        /// Which document, from 1.
        document: usize,
        /// The line on which it begins.
        line: u64,
        /// Which field.
        field: &'static str,
    },
    /// Two documents describe the same object.
    #[error("document {document}, line {line}: {id} is already described on line {first}")]
    Duplicate {
        /// Which document, from 1.
        document: usize,
        /// The line on which it begins.
        line: u64,
        /// What both describe.
        id: Box<Identity>,
        /// The line on which the first one begins.
        first: u64,
    },
}

impl ManifestError {
    /// The number of the document that is at fault, from 1.
    pub const fn document(&self) -> Option<usize> {
        match self {
            Self::Empty | Self::TooLarge { .. } | Self::TooMany { .. } => None,
            Self::Syntax { document, .. }
            | Self::NotAnObject { document, .. }
            | Self::Missing { document, .. }
            | Self::Duplicate { document, .. } => Some(*document),
        }
    }

    /// The line to look at, from 1.
    pub const fn line(&self) -> Option<u64> {
        match self {
            Self::Empty | Self::TooLarge { .. } | Self::TooMany { .. } => None,
            Self::Syntax { line, .. }
            | Self::NotAnObject { line, .. }
            | Self::Missing { line, .. }
            | Self::Duplicate { line, .. } => Some(*line),
        }
    }
}
