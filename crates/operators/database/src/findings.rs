//! What the stages of a run found out, and what that means for the next one.

use evenkeel_controller::{Classify, ErrorClass, Outcome, ReasonWord};

use crate::credentials;
use crate::error::Error;
use crate::observe::Observed;
use crate::storage::Storage;
use crate::verdict::{Credentials, Remark};

/// What the stages of a run found out.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) credentials: Credentials,
    pub(crate) storage: Storage,
    /// The request for a new password that was carried out last.
    pub(crate) rotated: Option<String>,
    /// What went wrong; the first of it.
    pub(crate) error: Option<Error>,
}

impl Findings {
    /// Before anything was done.
    pub(crate) fn at_first(observed: &Observed) -> Self {
        let secret = observed.secret.as_deref();
        Self {
            credentials: Credentials::Unknown,
            storage: Storage::default(),
            rotated: secret.and_then(credentials::rotated).map(str::to_owned),
            error: None,
        }
    }

    /// Takes note of how a stage went, and lets the next one work.
    pub(crate) fn note(&mut self, stage: Result<(), Error>) {
        if let Err(error) = stage {
            self.error.get_or_insert(error);
        }
    }

    /// Why the Database is not taken as it is, if that is what went wrong.
    pub(crate) fn objection(&self) -> Option<Remark> {
        let error = self.error.as_ref()?;
        let reason = match (error, error.class()) {
            (Error::NotOurs(_), _) => ReasonWord::of("Conflict"),
            (_, ErrorClass::Permanent) => ReasonWord::of("Refused"),
            (_, ErrorClass::Transient | ErrorClass::Unknown) => return None,
        };
        Some(remark(reason, error))
    }

    /// What went wrong and is tried again, if it is.
    pub(crate) fn trouble(&self) -> Option<Remark> {
        let error = self.error.as_ref()?;
        let reason = match error.class() {
            ErrorClass::Permanent => return None,
            ErrorClass::Transient => ReasonWord::of("TransientError"),
            ErrorClass::Unknown => ReasonWord::of("UnknownError"),
        };
        Some(remark(reason, error))
    }

    /// What all of it means for the next run.
    pub(crate) fn outcome(self) -> Outcome<Error> {
        match (self.error, self.credentials) {
            // Nobody tells when what is not ours gets out of the way.
            (Some(Error::NotOurs(_)), _) => Outcome::wait("somebody else's object to go"),
            (Some(error), _) => Outcome::failed(error),
            (None, Credentials::Changing(_)) => {
                Outcome::wait("the server to take the new password")
            }
            (None, Credentials::Stuck(_) | Credentials::Unknown) => {
                Outcome::wait("somebody to bring the credentials back")
            }
            (None, Credentials::Ready) if !self.storage.steps.is_empty() => {
                Outcome::wait("the volumes to grow")
            }
            (None, Credentials::Ready) => Outcome::Done,
        }
    }
}

fn remark(reason: ReasonWord, error: &Error) -> Remark {
    Remark {
        reason,
        message: evenkeel_ambient::chain(error),
    }
}
