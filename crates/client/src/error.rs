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
    /// The authorities to trust are none.
    #[error("there is no certificate of an authority, or not in PEM")]
    Authorities,
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
            Self::Unreadable(_) | Self::Address(_) | Self::Authorities => false,
        }
    }

    /// Whether somebody answered whose certificate is not trusted.
    pub fn is_untrusted(&self) -> bool {
        match self {
            Self::Transport(error) => names_a_certificate(error),
            _ => false,
        }
    }
}

fn names_a_certificate(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_it = matches!(
        error.downcast_ref(),
        Some(rustls::Error::InvalidCertificate(_))
    );
    // An I/O error keeps what it wraps beside the chain of its sources.
    let wrapped = error.downcast_ref().and_then(std::io::Error::get_ref);
    is_it
        || wrapped.is_some_and(|inner| names_a_certificate(inner))
        || error.source().is_some_and(names_a_certificate)
}
