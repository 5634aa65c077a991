//! What can go wrong.

use std::time::Duration;

use evenkeel_controller::{Classify, ErrorClass, NotKnown};
use evenkeel_reconcile::{Failure, Interrupted, Reach};
use evenkeel_shapes_cloud::Problem;
use http::StatusCode;

use crate::key::ShapeKey;

/// What can go wrong between here and the cloud.
#[derive(Debug, thiserror::Error)]
pub enum CloudError {
    /// Nobody knows whether the cloud did it.
    #[error("{attempt}: no answer from the cloud")]
    NoAnswer {
        /// What was attempted.
        attempt: String,
        /// Why there is no answer.
        #[source]
        why: tower::BoxError,
    },
    /// The cloud answered that it will not, or cannot.
    #[error("{attempt}: {} ({status})", .problem.message)]
    Refused {
        /// What was attempted.
        attempt: String,
        /// The HTTP status.
        status: StatusCode,
        /// What the cloud says.
        problem: Problem,
        /// How long it asks us to stay away.
        retry_after: Option<Duration>,
    },
}

impl CloudError {
    /// The HTTP status of the refusal.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::NoAnswer { .. } => None,
            Self::Refused { status, .. } => Some(*status),
        }
    }
}

/// What can go wrong while a shape is kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Between here and the cloud.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// Between here and Kubernetes.
    #[error("cannot write down how far it has come")]
    Kubernetes(#[from] evenkeel_controller::Error),
    /// The shape that shall be adopted does not exist.
    #[error("there is no shape {0} to adopt")]
    NothingToAdopt(String),
    /// Not all of the cloud could be seen.
    #[error("the cloud showed only a part of itself: {0}")]
    Incomplete(String),
    /// The pass as a whole.
    #[error("the shape is not as declared")]
    Pass(#[from] Box<Interrupted<ShapeKey, Error>>),
}

impl From<NotKnown> for Error {
    fn from(unknown: NotKnown) -> Self {
        Self::Kubernetes(unknown.into())
    }
}

impl Error {
    /// Whether the cloud will never make what is asked for.
    pub(crate) fn is_invalid(&self) -> bool {
        matches!(self, Self::Cloud(error) if error.status() == Some(StatusCode::UNPROCESSABLE_ENTITY))
    }
}

impl Classify for Error {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Kubernetes(error) => error.class(),
            Self::Pass(pass) => pass.class(),
            Self::Cloud(_) if self.is_invalid() => ErrorClass::Permanent,
            Self::Cloud(_) | Self::NothingToAdopt(_) | Self::Incomplete(_) => ErrorClass::Transient,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Cloud(CloudError::Refused { retry_after, .. }) => *retry_after,
            Self::Kubernetes(error) => error.retry_after(),
            Self::Pass(pass) => pass.retry_after(),
            Self::Cloud(_) | Self::NothingToAdopt(_) | Self::Incomplete(_) => None,
        }
    }
}

impl Failure for Error {
    fn reach(&self) -> Reach {
        const GONE: Option<StatusCode> = Some(StatusCode::NOT_FOUND);
        const CHANGED: Option<StatusCode> = Some(StatusCode::PRECONDITION_FAILED);
        const USED: Option<StatusCode> = Some(StatusCode::CONFLICT);
        match self {
            Self::Cloud(error) if [GONE, CHANGED, USED].contains(&error.status()) => Reach::Stale,
            _ => Reach::Thing,
        }
    }
}
