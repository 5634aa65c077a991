//! For whoever runs the broker: is it ready, and which version is it. No key is needed.

use reqwest::Method;

use crate::client::{header, send};
use crate::{Client, ClientError, Result};

impl Client {
    /// Whether the broker can do its work.
    pub async fn ready(&self) -> Result<()> {
        send(self.root_request(Method::GET, "readyz"))
            .await
            .map(drop)
    }

    /// The version that the broker says it is.
    pub async fn version(&self) -> Result<String> {
        let answer = send(self.root_request(Method::GET, "healthz")).await?;
        let server = header(&answer, "server").unwrap_or_default();
        let version = server.strip_prefix("evenkeel/").map(str::to_owned);
        version.ok_or_else(|| ClientError::Unreadable("it does not say its version".to_owned()))
    }
}
