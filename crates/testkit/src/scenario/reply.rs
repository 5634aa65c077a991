//! What a scenario keeps of an answer.

use http::Response;
use http::header::{CONTENT_TYPE, WARNING};
use kube::client::Body;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the server said, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The status code; 0 when there was no reply at all.
    pub status: u16,
    /// The media type, unless it is JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// `Warning` headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The body: JSON, a list of watch events, or text.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
}

impl Reply {
    pub(super) fn none(reason: &str) -> Self {
        Self {
            status: 0,
            media: None,
            warnings: Vec::new(),
            body: json!(reason),
        }
    }

    pub(super) fn head(response: &Response<Body>) -> Self {
        let headers = response.headers();
        let texts = |name| {
            headers
                .get_all(name)
                .iter()
                .filter_map(|value| value.to_str().ok())
        };
        let media = texts(CONTENT_TYPE).next().map(str::to_owned);
        Self {
            status: response.status().as_u16(),
            media: media.filter(|media| media != "application/json"),
            warnings: texts(WARNING).map(str::to_owned).collect(),
            body: Value::Null,
        }
    }
}
