//! Why a server's tools are not known.

use std::time::Duration;

/// Why a server's tools are not known.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// A request could not be sent or was not answered.
    #[error("cannot {attempt} {url}")]
    Request {
        /// What was attempted.
        attempt: &'static str,
        /// Whom.
        url: String,
        /// Why.
        source: Box<reqwest::Error>,
    },
    /// It answered, but not with success.
    #[error("{url} answered {status}: {text}")]
    Refused {
        /// Who.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of what it said.
        text: String,
    },
    /// It answered with an error of the protocol.
    #[error("{url} refused {method}: {message}")]
    Protocol {
        /// Who.
        url: String,
        /// What was asked.
        method: &'static str,
        /// What it said.
        message: String,
    },
    /// It answered with something else.
    #[error("{url} does not speak MCP: {what}")]
    NotMcp {
        /// Who.
        url: String,
        /// What is wrong with the answer.
        what: String,
    },
    /// It did not end in time.
    #[error("{url} did not tell its tools within {limit:?}")]
    TooSlow {
        /// Who.
        url: String,
        /// How long it was given.
        limit: Duration,
    },
    /// A header that cannot be sent.
    #[error("the header {name:?} cannot be sent")]
    BadHeader {
        /// Its name.
        name: String,
    },
}

impl McpError {
    pub(super) fn request(attempt: &'static str, url: &str, source: reqwest::Error) -> Self {
        Self::Request {
            attempt,
            url: url.to_owned(),
            source: Box::new(source.without_url()),
        }
    }

    pub(super) fn not_mcp(url: &str, what: impl Into<String>) -> Self {
        Self::NotMcp {
            url: url.to_owned(),
            what: what.into(),
        }
    }
}
