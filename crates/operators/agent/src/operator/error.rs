//! What can go wrong in a run.

use std::time::Duration;

use evenkeel_controller::{Classify, Error, ErrorClass, NotKnown};
use evenkeel_kubeset::{ManifestError, ObjectKey};
use evenkeel_reconcile::Interrupted;

use crate::mcp::McpError;
use crate::translate::TranslateError;

/// What can go wrong in a run.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The cluster did not do or say what was asked.
    #[error(transparent)]
    Cluster(#[from] Error),
    /// What people wrote cannot be carried out as it is.
    #[error(transparent)]
    Translate(#[from] TranslateError),
    /// The objects that were made are not objects of Kubernetes.
    #[error("the objects of an agent cannot be applied")]
    Objects(#[from] ManifestError),
    /// Some objects could not be brought about.
    #[error("{text}")]
    Apply {
        /// What failed, in the words of the cluster.
        text: String,
        /// Whether another try may help.
        class: ErrorClass,
        /// How long the cluster asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// A server of tools did not answer as it should.
    #[error(transparent)]
    Mcp(#[from] McpError),
}

impl From<NotKnown> for OperatorError {
    fn from(error: NotKnown) -> Self {
        Self::Cluster(error.into())
    }
}

impl From<evenkeel_kubeset::Error> for OperatorError {
    fn from(error: evenkeel_kubeset::Error) -> Self {
        Self::Apply {
            text: evenkeel_ambient::chain(&error),
            class: error.class(),
            retry_after: error.retry_after(),
        }
    }
}

impl From<&Interrupted<ObjectKey, evenkeel_kubeset::Error>> for OperatorError {
    fn from(interrupted: &Interrupted<ObjectKey, evenkeel_kubeset::Error>) -> Self {
        let failures = interrupted.failures.iter();
        let texts: Vec<_> = failures
            .map(|failed| evenkeel_ambient::chain(&failed.error))
            .collect();
        Self::Apply {
            text: texts.join("; "),
            class: interrupted.class(),
            retry_after: interrupted.retry_after(),
        }
    }
}

impl Classify for OperatorError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Cluster(error) => error.class(),
            Self::Apply { class, .. } => *class,
            Self::Translate(_) | Self::Objects(_) => ErrorClass::Permanent,
            Self::Mcp(_) => ErrorClass::Transient,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Cluster(error) => error.retry_after(),
            Self::Apply { retry_after, .. } => *retry_after,
            Self::Translate(_) | Self::Objects(_) | Self::Mcp(_) => None,
        }
    }
}
