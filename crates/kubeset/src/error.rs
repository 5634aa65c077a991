//! What can go wrong with a set, and what that means for the rest of it.

use std::time::Duration;

use evenkeel_reconcile::{Classify, ErrorClass, Failure, Reach};

use kube::core::Status;

use crate::key::{GroupKind, ObjectKey};

/// What can go wrong with a set.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server said no.
    #[error("{attempt}: {message} ({code} {reason})")]
    Refused {
        /// What was attempted on what.
        attempt: String,
        /// The HTTP status.
        code: u16,
        /// The server's word for it.
        reason: String,
        /// The server's sentence.
        message: String,
        /// How long the server asks us to stay away.
        retry_after: Option<Duration>,
    },
    /// The server did not answer, or not in a way that can be read.
    #[error("{attempt}: no answer from the API server")]
    NoAnswer {
        /// What was attempted on what.
        attempt: String,
        /// Why.
        #[source]
        cause: Box<kube::Error>,
    },
    /// Nobody serves this kind.
    #[error("no kind {} in {api_version}; is its CRD installed or part of this set?", kind.kind)]
    UnknownKind {
        /// Which kind.
        kind: GroupKind,
        /// In which version.
        api_version: String,
    },
    /// The server that serves this group does not answer.
    #[error("the API group {group} does not answer, so nothing is known of its kinds")]
    BrokenGroup {
        /// Which group.
        group: String,
    },
    /// A definition was applied and its kind is still not served.
    #[error("{definition} is not served yet: {why}")]
    NotServed {
        /// Which definition.
        definition: String,
        /// What the server says of it.
        why: String,
    },
    /// Two objects of the set turn out to be the same one.
    #[error("{key} is wanted twice: once with its namespace and once without")]
    Twice {
        /// Which object.
        key: ObjectKey,
    },
    /// An operator makes objects of a kind that it does not follow.
    #[error("{key} cannot be a child of {parent}: its kind is not among those that are followed")]
    UnlistedKind {
        /// Which object.
        key: ObjectKey,
        /// Whose child.
        parent: String,
    },
    /// A child outside its parent's namespace, which the cluster would remove as an orphan.
    #[error("{key} cannot be a child of {parent}, which is in another namespace")]
    OutOfReach {
        /// Which object.
        key: ObjectKey,
        /// Whose child.
        parent: String,
    },
    /// It exists, although it was not seen.
    #[error("{key} exists already")]
    Exists {
        /// Which object.
        key: ObjectKey,
    },
    /// It is not what was seen any more.
    #[error("{key} changed since it was seen: {why}")]
    Changed {
        /// Which object.
        key: ObjectKey,
        /// How.
        why: String,
    },
    /// A field would have to change that cannot.
    #[error("{key} cannot be changed in place: {message}")]
    Immutable {
        /// Which object.
        key: ObjectKey,
        /// The server's sentence.
        message: String,
    },
    /// The server would refuse some objects, so nothing was written.
    #[error("{} of the objects would be refused; the first: {first}", rest.len() + 1)]
    Invalid {
        /// The first refusal.
        first: Box<Error>,
        /// The others.
        rest: Vec<Error>,
    },
    /// The inventory is not what we wrote.
    #[error("the inventory of {owner} cannot be kept: {why}")]
    Inventory {
        /// Whose.
        owner: String,
        /// Why.
        why: String,
    },
}

impl Error {
    pub(crate) fn of_call(attempt: &str, error: kube::Error) -> Self {
        let attempt = attempt.to_owned();
        match error {
            kube::Error::Api(status) => Self::of_status(attempt, *status),
            cause => Self::NoAnswer {
                attempt,
                cause: Box::new(cause),
            },
        }
    }

    /// What a body that is no answer says, and how long the server asks to be left alone.
    pub(crate) fn refused(attempt: &str, code: u16, body: &[u8], pause: Option<Duration>) -> Self {
        let read = serde_json::from_slice::<Status>(body);
        let status = read.unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(body);
            Status::failure(text.trim(), "not an answer of the API").with_code(code)
        });
        let mut refused = Self::of_status(attempt.to_owned(), status);
        if let Self::Refused { retry_after, .. } = &mut refused {
            *retry_after = pause.or(*retry_after);
        }
        refused
    }

    fn of_status(attempt: String, status: Status) -> Self {
        let asked = status.details.map(|details| details.retry_after_seconds);
        let asked = asked.filter(|seconds| *seconds > 0);
        Self::Refused {
            attempt,
            code: status.code,
            retry_after: asked.map(|seconds| Duration::from_secs(seconds.into())),
            reason: status.reason,
            message: status.message,
        }
    }

    /// The HTTP status of a refusal.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// The server's sentence, if it refuses to change a field that cannot be changed.
    pub(crate) fn immutable(&self) -> Option<&str> {
        const SAYINGS: [&str; 4] = [
            "immutable",
            "updates to statefulset spec",
            "may not change once set",
            "cannot change roleRef",
        ];
        match self {
            Self::Refused { code, message, .. }
                if *code == 422 && SAYINGS.iter().any(|said| message.contains(said)) =>
            {
                Some(message)
            }
            _ => None,
        }
    }
}

/// Whether the server may well answer otherwise the next time.
fn passes(code: u16, message: &str) -> bool {
    matches!(code, 429 | 500 | 502 | 503 | 504)
        || message.contains("because it is being terminated")
}

impl Classify for Error {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Refused { code, message, .. } if passes(*code, message) => ErrorClass::Transient,
            Self::Refused {
                code: 400 | 422, ..
            } => ErrorClass::Permanent,
            Self::Refused { .. } => ErrorClass::Unknown,
            Self::NoAnswer { .. }
            | Self::NotServed { .. }
            | Self::BrokenGroup { .. }
            | Self::Exists { .. }
            | Self::Changed { .. }
            | Self::Inventory { .. } => ErrorClass::Transient,
            Self::UnknownKind { .. } => ErrorClass::Unknown,
            Self::Twice { .. }
            | Self::Immutable { .. }
            | Self::UnlistedKind { .. }
            | Self::OutOfReach { .. } => ErrorClass::Permanent,
            Self::Invalid { first, rest } => {
                match rest.iter().find(|error| error.class() != first.class()) {
                    Some(_) => ErrorClass::Unknown,
                    None => first.class(),
                }
            }
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            Self::Invalid { first, rest } => {
                let all = std::iter::once(&**first).chain(rest);
                all.filter_map(Classify::retry_after).max()
            }
            _ => None,
        }
    }
}

impl Failure for Error {
    fn reach(&self) -> Reach {
        match self {
            Self::Exists { .. } | Self::Changed { .. } | Self::Refused { code: 409, .. } => {
                Reach::Stale
            }
            Self::Refused {
                code: 401 | 429 | 500 | 502 | 503 | 504,
                ..
            }
            | Self::NoAnswer { .. } => Reach::World,
            _ => Reach::Thing,
        }
    }
}
