//! What can go wrong between a client and its broker.

use evenkeel_api::ErrorBody;

/// The result of asking a broker.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// Why a request did not give what it asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The broker said no.
    #[error("the broker answered {status}: {} ({})", .body.message, .body.code)]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Why.
        body: ErrorBody,
        /// When to come again, in seconds, if the broker said.
        retry_after: Option<u64>,
    },
    /// The broker could not be reached, or its answer could not be read.
    #[error("the broker could not be asked")]
    Transport(#[from] reqwest::Error),
    /// The answer is not what this version of the client understands.
    #[error("the broker's answer cannot be understood: {0}")]
    Unreadable(String),
    /// The address is not one.
    #[error("`{0}` is not the address of a broker")]
    Address(String),
}

impl ClientError {
    /// The broker's word for the reason, if it gave one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { body, .. } => Some(&body.code),
            _ => None,
        }
    }

    /// The HTTP status, if there was an answer.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            Self::Transport(error) => error.status().map(|status| status.as_u16()),
            _ => None,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Refused { status, .. } => matches!(status, 408 | 429 | 502 | 503 | 504),
            Self::Transport(_) => true,
            Self::Unreadable(_) | Self::Address(_) => false,
        }
    }
}
