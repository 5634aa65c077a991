//! What can go wrong in a run, and what that means for the next one.

use std::time::Duration;

use evenkeel_reconcile::{Classify, ErrorClass};

use crate::key::ResourceId;

/// The objects of a kind are not known, which is not to be mistaken for none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {resource} of the cluster are not known: {why}")]
pub struct NotKnown {
    /// Of which resource.
    pub resource: ResourceId,
    /// Why.
    pub why: String,
}

/// What can go wrong when a run asks something of the cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A request failed.
    #[error("{attempt}: {}", why(.error))]
    Kube {
        /// What was attempted on what.
        attempt: String,
        /// What Kubernetes answered, if it did. Told in the text, as its own text says it twice.
        error: Box<kube::Error>,
    },
    /// Objects are not known.
    #[error(transparent)]
    NotKnown(#[from] NotKnown),
}

impl Error {
    /// `attempt` failed; the text completes "failed to ...".
    pub fn kube(attempt: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let attempt = attempt.into();
        move |error| Self::Kube {
            attempt,
            error: Box::new(error),
        }
    }

    /// The HTTP code of Kubernetes' answer.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Kube { error, .. } => code(error),
            Self::NotKnown(_) => None,
        }
    }

    /// Whether somebody changed the object since it was read; no failure, as the change will be
    /// seen and lead to another run.
    pub fn is_conflict(&self) -> bool {
        self.code() == Some(409)
    }
}

impl Classify for Error {
    fn class(&self) -> ErrorClass {
        match self.code() {
            None | Some(401 | 403 | 404 | 408 | 409 | 410 | 429) => ErrorClass::Transient,
            Some(500..) => ErrorClass::Transient,
            Some(400 | 405 | 413 | 415 | 422) => ErrorClass::Permanent,
            Some(_) => ErrorClass::Unknown,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        let Self::Kube { error, .. } = self else {
            return None;
        };
        let kube::Error::Api(status) = &**error else {
            return None;
        };
        let seconds = status.details.as_ref()?.retry_after_seconds;
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }
}

fn code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// What Kubernetes said, without the repetitions.
pub(crate) fn why(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => format!("{} ({})", status.message, status.code),
        kube::Error::Service(cause) => cause.to_string(),
        other => other.to_string(),
    }
}
