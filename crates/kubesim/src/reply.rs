//! Answers on their way out.

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use serde::Serialize;
use serde_json::Value;

use crate::body::Body;
use crate::request::{Accept, Encoding, Form};
use crate::status::ApiError;

/// An answer before it is written for a client.
#[derive(Debug)]
pub(crate) struct Reply {
    code: u16,
    content: Content,
    warnings: Vec<String>,
}

#[derive(Debug)]
enum Content {
    /// JSON, written already; turned into YAML when the client wants that.
    Json(Bytes),
    Text(&'static str),
    Listing(Bytes),
    Stream(Body),
}

impl Reply {
    /// 200 with an object.
    pub(crate) fn ok(content: &impl Serialize) -> Self {
        Self::with_code(200, content)
    }

    /// An object under another code.
    pub(crate) fn with_code(code: u16, content: &impl Serialize) -> Self {
        let json = serde_json::to_vec(content).unwrap_or_default();
        Self {
            code,
            content: Content::Json(json.into()),
            warnings: Vec::new(),
        }
    }

    /// JSON that is written already.
    pub(crate) fn json(text: String) -> Self {
        Self {
            code: 200,
            content: Content::Json(text.into()),
            warnings: Vec::new(),
        }
    }

    /// JSON that a real server takes for plain text.
    pub(crate) fn listing(content: &impl Serialize) -> Self {
        let json = serde_json::to_vec(content).unwrap_or_default();
        Self {
            code: 200,
            content: Content::Listing(json.into()),
            warnings: Vec::new(),
        }
    }

    /// Plain text.
    pub(crate) fn text(code: u16, text: &'static str) -> Self {
        Self {
            code,
            content: Content::Text(text),
            warnings: Vec::new(),
        }
    }

    /// A watch.
    pub(crate) fn stream(body: Body) -> Self {
        Self {
            code: 200,
            content: Content::Stream(body),
            warnings: Vec::new(),
        }
    }

    /// The path leads nowhere.
    pub(crate) fn page_not_found() -> Self {
        Self::text(404, "404 page not found\n")
    }

    /// The same answer with `Warning` headers.
    #[must_use]
    pub(crate) fn warning(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }

    /// The same answer with one more `Warning` header.
    #[must_use]
    pub(crate) fn warn(mut self, warning: &str) -> Self {
        self.warnings.push(warning.to_owned());
        self
    }

    /// Writes the answer as the client wants it.
    pub(crate) fn into_response(self, accept: Accept) -> Response<Body> {
        let (media_type, body) = match self.content {
            Content::Json(json) => encode(json, accept),
            Content::Text(text) => ("text/plain; charset=utf-8", Body::from(text.as_bytes())),
            Content::Listing(json) => ("text/plain; charset=utf-8", json.into()),
            Content::Stream(body) => ("application/json", body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = http::StatusCode::from_u16(self.code).unwrap_or_default();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        for warning in &self.warnings {
            let quoted = format!("299 - {warning:?}");
            if let Ok(value) = HeaderValue::from_str(&quoted) {
                response.headers_mut().append(header::WARNING, value);
            }
        }
        response
    }
}

impl From<ApiError> for Reply {
    fn from(error: ApiError) -> Self {
        Self::with_code(error.code, &error.to_status()).warning(error.warnings)
    }
}

fn encode(json: Bytes, accept: Accept) -> (&'static str, Body) {
    let media_type = match accept.form {
        Form::AggregatedDiscovery => {
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        }
        Form::Object | Form::Metadata | Form::MetadataList | Form::Table(_) => "application/json",
    };
    match accept.encoding {
        Encoding::Json => (media_type, json.into()),
        Encoding::Yaml => ("application/yaml", to_yaml(&json).into()),
    }
}

fn to_yaml(json: &[u8]) -> Bytes {
    let value: Value = serde_json::from_slice(json).unwrap_or_default();
    serde_saphyr::to_string(&value).unwrap_or_default().into()
}
