//! Whose a thing is.

/// Whose a live thing is, as far as its marks prove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership<V> {
    /// Ours.
    Mine {
        /// The version of desired state that we last wrote to it, where that is recorded. Without
        /// a record every difference is taken for an older version of ours.
        version: Option<V>,
    },
    /// Somebody else's. Never touched, whatever the policy.
    Other {
        /// The owner as the thing names it.
        owner: String,
    },
    /// Nobody's, or nobody that can be told.
    Nobody,
}

impl<V> Ownership<V> {
    /// Ours, last written by `version`.
    pub fn mine_at(version: V) -> Self {
        Self::Mine {
            version: Some(version),
        }
    }

    /// Whether it is provably ours.
    pub fn is_mine(&self) -> bool {
        matches!(self, Self::Mine { .. })
    }

    /// The same with the version read as another type; a version that cannot be read counts as
    /// unrecorded, so the thing is still ours.
    pub fn read_version<U>(self, read: impl FnOnce(V) -> Option<U>) -> Ownership<U> {
        match self {
            Self::Mine { version } => Ownership::Mine {
                version: version.and_then(read),
            },
            Self::Other { owner } => Ownership::Other { owner },
            Self::Nobody => Ownership::Nobody,
        }
    }
}
