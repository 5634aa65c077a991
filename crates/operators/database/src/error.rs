//! What can go wrong with a Database, and what that means for the next try.

use std::time::Duration;

use evenkeel_controller::NotKnown;
use evenkeel_kubeset::{ManifestError, ObjectKey};
use evenkeel_reconcile::{Classify, ErrorClass, Interrupted};

use crate::passwords::PasswordError;

/// What can go wrong with a Database.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A request failed, or too little is known.
    #[error(transparent)]
    Cluster(#[from] evenkeel_controller::Error),
    /// The children could not be brought to what they should be.
    #[error("bring the children to what they should be")]
    Children(#[from] Box<Interrupted<ObjectKey, evenkeel_kubeset::Error>>),
    /// A child belongs to somebody else.
    #[error("{0}")]
    NotOurs(String),
    /// What was built is no manifest; a fault of the operator.
    #[error("build the children")]
    Built(#[from] ManifestError),
    /// The same, one step earlier.
    #[error("build the children")]
    Json(#[from] serde_json::Error),
    /// The password could not be changed.
    #[error("change the password")]
    Password(#[from] PasswordError),
}

impl Error {
    /// Whether somebody changed an object since it was read: no failure, but another look.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Cluster(error) if error.is_conflict())
    }
}

impl From<NotKnown> for Error {
    fn from(error: NotKnown) -> Self {
        Self::Cluster(error.into())
    }
}

impl Classify for Error {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Cluster(error) => error.class(),
            Self::Children(error) => error.class(),
            Self::NotOurs(_) | Self::Built(_) | Self::Json(_) => ErrorClass::Permanent,
            Self::Password(PasswordError::NeitherWorks) => ErrorClass::Permanent,
            Self::Password(PasswordError::Server { .. }) => ErrorClass::Transient,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Cluster(error) => error.retry_after(),
            Self::Children(error) => error.retry_after(),
            _ => None,
        }
    }
}
