//! Asking an MCP server which tools it offers.
//!
//! A small client of the Model Context Protocol, in both of its forms over HTTP: enough to say hello,
//! list tools and say goodbye. The whole conversation ends when its time is up.
//!
//! ```text
//! Endpoint ──▶ streamable │ sse ── initialize, initialized, tools/list… ──▶ [McpTool]
//!                   events (of a stream), message (JSON-RPC) ┘
//! ```

mod error;
mod events;
mod message;
mod sse;
mod streamable;

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, redirect};

pub use error::McpError;

use crate::api::status::McpTool;
use crate::translate::Protocol;

/// A list that goes on for ever ends here.
const MAX_PAGES: usize = 100;

/// Where a server is, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Where it is.
    pub url: String,
    /// In which form of the protocol.
    pub protocol: Protocol,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// How long the whole conversation may take.
    pub timeout: Duration,
    /// Certificates that are trusted, as PEM.
    pub authorities: Option<String>,
    /// Whether no others are.
    pub only_these_authorities: bool,
    /// Whether certificates are not checked at all.
    pub skip_verification: bool,
}

/// The tools that a server offers.
///
/// # Errors
/// When it cannot be reached, does not speak the protocol, or takes too long.
pub async fn tools(endpoint: &Endpoint) -> Result<Vec<McpTool>, McpError> {
    let client = client(endpoint)?;
    let conversation = async {
        match endpoint.protocol {
            Protocol::StreamableHttp => streamable::tools(&client, &endpoint.url).await,
            Protocol::Sse => sse::tools(&client, &endpoint.url).await,
        }
    };
    let answered = tokio::time::timeout(endpoint.timeout, conversation).await;
    answered.unwrap_or_else(|_| {
        Err(McpError::TooSlow {
            url: endpoint.url.clone(),
            limit: endpoint.timeout,
        })
    })
}

fn client(endpoint: &Endpoint) -> Result<Client, McpError> {
    // Another part of the process may have chosen already, and that is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .default_headers(headers(endpoint)?)
        // A header may be a key; it goes to the server that it was written for, and no other.
        .redirect(redirect::Policy::none())
        .tls_danger_accept_invalid_certs(endpoint.skip_verification);
    if let Some(pem) = &endpoint.authorities {
        let certificates = Certificate::from_pem_bundle(pem.as_bytes()).map_err(|source| {
            McpError::request("read the certificates for", &endpoint.url, source)
        })?;
        builder = match endpoint.only_these_authorities {
            true => builder.tls_certs_only(certificates),
            false => builder.tls_certs_merge(certificates),
        };
    }
    let built = builder.build();
    built.map_err(|source| McpError::request("prepare to ask", &endpoint.url, source))
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, McpError> {
    let header = |(name, value): (&String, &String)| {
        let name = HeaderName::try_from(name).ok()?;
        let mut value = HeaderValue::try_from(value.trim()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    let bad = |name: &String| McpError::BadHeader { name: name.clone() };
    let all = endpoint.headers.iter();
    all.map(|pair| header(pair).ok_or_else(|| bad(pair.0)))
        .collect()
}
