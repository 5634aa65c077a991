//! For whoever runs the broker: is it ready, and which version is it. No key is needed.

use reqwest::Method;
use serde_json::Value;

use crate::client::{read, send};
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
        let described: Value = read(self.root_request(Method::GET, "openapi.json")).await?;
        let version = described["info"]["version"].as_str().map(str::to_owned);
        version.ok_or_else(|| ClientError::Unreadable("it does not say its version".to_owned()))
    }
}
