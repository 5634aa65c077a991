//! The client itself: how every operation is sent and its answer read.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_api::{ErrorBody, ListQuery, NEXT_CURSOR};
use evenkeel_model::{Cursor, Page};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{ClientError, Result};

const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// A client of one broker, with one key. Clones share connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    key: Arc<str>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the broker at `address` (`http://host:port`) that presents `key`.
    pub fn new(address: &str, key: &str) -> Result<Self> {
        Self::with(http().build()?, address, key)
    }

    /// The same for a broker whose certificate one of these authorities (PEM) has signed, and no
    /// other.
    pub fn trusting(address: &str, key: &str, authorities: &[u8]) -> Result<Self> {
        let roots = reqwest::Certificate::from_pem_bundle(authorities);
        let roots = roots.ok().filter(|roots| !roots.is_empty());
        let roots = roots.ok_or(ClientError::Authorities)?;
        Self::with(http().tls_certs_only(roots).build()?, address, key)
    }

    /// The same with an HTTP client of the caller's own, for other roots of trust or proxies.
    pub fn with(http: reqwest::Client, address: &str, key: &str) -> Result<Self> {
        let refused = || ClientError::Address(address.to_owned());
        let base = format!("{}/api/v1/", address.trim_end_matches('/'));
        let base = Url::parse(&base).map_err(|_| refused())?;
        if base.cannot_be_a_base() || !base.has_host() {
            return Err(refused());
        }
        Ok(Self {
            http,
            base,
            key: key.into(),
        })
    }

    /// The same broker with another key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self {
            key: key.into(),
            ..self.clone()
        }
    }

    /// A request to a path that is given in parts, each of which may hold anything.
    pub(crate) fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        self.http
            .request(method, url)
            .bearer_auth(&self.key)
            .timeout(ANSWER_WITHIN)
    }

    /// A request to what lies beside the API.
    pub(crate) fn root_request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut url = self.base.clone();
        url.set_path(path);
        self.http.request(method, url).timeout(ANSWER_WITHIN)
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T> {
        read(self.request(Method::GET, path)).await
    }

    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &ListQuery,
    ) -> Result<Page<T>> {
        read_page(self.request(Method::GET, path).query(query)).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + Sync),
    ) -> Result<T> {
        read(self.request(Method::POST, path).json(body)).await
    }

    pub(crate) async fn put<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + Sync),
    ) -> Result<T> {
        read(self.request(Method::PUT, path).json(body)).await
    }

    pub(crate) async fn delete(&self, path: &[&str]) -> Result<()> {
        send(self.request(Method::DELETE, path)).await.map(drop)
    }
}

fn http() -> reqwest::ClientBuilder {
    // Whoever came first chose a provider for the whole process; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("evenkeel/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_WITHIN)
}

/// Sends a request; anything but success, or 304, is an error.
pub(crate) async fn send(request: RequestBuilder) -> Result<Response> {
    let answer = request.send().await?;
    let status = answer.status();
    if status.is_success() || status == reqwest::StatusCode::NOT_MODIFIED {
        return Ok(answer);
    }
    let retry_after = header(&answer, "retry-after").and_then(|text| text.parse().ok());
    let text = answer.text().await.unwrap_or_default();
    let body = serde_json::from_str(&text).unwrap_or_else(|_| ErrorBody {
        code: "unknown".to_owned(),
        message: text,
        details: None,
    });
    Err(ClientError::Refused {
        status: status.as_u16(),
        body,
        retry_after,
    })
}

/// Sends a request and reads its JSON answer.
pub(crate) async fn read<T: DeserializeOwned>(request: RequestBuilder) -> Result<T> {
    parse(send(request).await?).await
}

pub(crate) async fn read_page<T: DeserializeOwned>(request: RequestBuilder) -> Result<Page<T>> {
    let answer = send(request).await?;
    let next = header(&answer, NEXT_CURSOR)
        .and_then(|text| text.parse().ok())
        .map(Cursor);
    Ok(Page {
        items: parse(answer).await?,
        next,
    })
}

pub(crate) async fn parse<T: DeserializeOwned>(answer: Response) -> Result<T> {
    let bytes = answer.bytes().await?;
    serde_json::from_slice(&bytes).map_err(|error| ClientError::Unreadable(error.to_string()))
}

pub(crate) fn header(answer: &Response, name: &str) -> Option<String> {
    answer.headers().get(name)?.to_str().ok().map(str::to_owned)
}
