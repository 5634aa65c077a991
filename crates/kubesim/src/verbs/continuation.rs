//! The token with which a client asks for the next page of a list.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::status::ApiError;

/// Where the next page begins.
#[derive(Debug, PartialEq)]
pub(super) struct Continuation {
    /// The revision of the list; none for a list that goes on inconsistently.
    pub(super) revision: Option<u64>,
    /// The first key that may follow, below the namespace that is listed.
    pub(super) after: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Token {
    v: String,
    rv: i64,
    start: String,
}

impl Continuation {
    pub(super) fn encode(&self) -> String {
        let rv = self
            .revision
            .map_or(-1, |revision| i64::try_from(revision).unwrap_or(i64::MAX));
        let token = Token {
            v: "meta.k8s.io/v1".into(),
            rv,
            start: format!("/{}", self.after),
        };
        let json = serde_json::to_vec(&token).unwrap_or_default();
        URL_SAFE_NO_PAD.encode(json)
    }

    pub(super) fn decode(text: &str) -> Result<Self, ApiError> {
        let wrong = |why: &str| {
            ApiError::bad_request(format!(
                "invalid continue token: continue key is not valid{why}"
            ))
        };
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|why| wrong(&format!(": {why}")))?;
        let token: Token = serde_json::from_slice(&bytes).map_err(|_| wrong(&complaint(&bytes)))?;
        if token.v != "meta.k8s.io/v1" {
            return Err(wrong(&format!(
                ": server does not recognize this encoded version {}",
                token.v
            )));
        }
        if token.rv == 0 {
            return Err(wrong(
                ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ));
        }
        if token.start.is_empty() {
            return Err(wrong(": encoded start key empty (version meta.k8s.io/v1)"));
        }
        let after = token.start.strip_prefix('/').unwrap_or(&token.start);
        if after.starts_with('/') || after.split('/').any(|part| part == "." || part == "..") {
            return Err(wrong(&format!(": {}", token.start)));
        }
        Ok(Self {
            revision: u64::try_from(token.rv).ok(),
            after: after.to_owned(),
        })
    }

    /// The refusal of a token whose revision is gone, with one that goes on inconsistently.
    pub(super) fn expired(&self, message: &str) -> ApiError {
        let token = Token {
            v: "meta.k8s.io/v1".into(),
            rv: -1,
            start: self.after.clone(),
        };
        let json = serde_json::to_vec(&token).unwrap_or_default();
        let mut error = ApiError::expired(message);
        error.continue_token = Some(URL_SAFE_NO_PAD.encode(json));
        error
    }
}

/// What a real server's decoder says of the first byte that cannot begin a token.
fn complaint(bytes: &[u8]) -> String {
    match String::from_utf8_lossy(bytes).chars().next() {
        None => ": unexpected end of JSON input".into(),
        Some('{') => ": unexpected end of JSON input".into(),
        Some(other) => format!(": invalid character '{other}' looking for beginning of value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_a_real_server() {
        let token = Continuation {
            revision: Some(221),
            after: "b\0".into(),
        };
        let text = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjIxLCJzdGFydCI6Ii9iXHUwMDAwIn0";
        assert_eq!(token.encode(), text);
        assert_eq!(Continuation::decode(text), Ok(token));
    }
}
