//! What the server says when it refuses: every error as the `Status` object that a real server
//! answers, word for word.

use serde_json::{Map, Value, json};

use crate::field_error::FieldError;
use crate::store::ResourceId;

/// A refusal, on its way to become a `Status` object.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP code.
    pub code: u16,
    /// The machine-readable reason; empty where a real server gives none.
    pub reason: &'static str,
    /// The text for people.
    pub message: String,
    /// What the refusal is about; `None` leaves the member out.
    pub details: Option<Box<Details>>,
    /// A token with which an expired list can be continued, inconsistently.
    pub continue_token: Option<String>,
    /// What people are warned of all the same.
    pub warnings: Vec<String>,
}

/// What a refusal is about.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the Status object")]
pub struct Details {
    pub name: String,
    pub group: String,
    pub kind: String,
    pub causes: Vec<Cause>,
    pub retry_after_seconds: u32,
}

/// One cause of a refusal.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the Status object")]
pub struct Cause {
    pub reason: &'static str,
    pub message: String,
    pub field: String,
}

impl ApiError {
    /// A refusal without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            reason,
            message,
            details: None,
            continue_token: None,
            warnings: Vec::new(),
        }
    }

    /// The same refusal, with details.
    #[must_use]
    pub fn about(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// 400: the request cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 403: not allowed, whoever asks again.
    pub(crate) fn forbidden(id: &ResourceId, name: &str, why: &str) -> Self {
        let what = if name.is_empty() {
            id.to_string()
        } else {
            format!("{id} {name:?}")
        };
        Self::new(403, "Forbidden", format!("{what} is forbidden: {why}"))
            .about(Details::of(id, name))
    }

    /// 404: no such object.
    pub(crate) fn not_found(id: &ResourceId, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{id} {name:?} not found")).about(Details::of(id, name))
    }

    /// 404: the group has no such version, resource or subresource.
    pub(crate) fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(404, "NotFound", message).about(Details::default())
    }

    /// 405: the resource knows no such verb.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).about(Details::default())
    }

    /// 406: no representation that the client would take.
    pub(crate) fn not_acceptable() -> Self {
        let message = "406: Not Acceptable\n\nAvailable representations: application/json, \
                       application/yaml, application/vnd.kubernetes.protobuf";
        Self::new(406, "NotAcceptable", message).about(Details::default())
    }

    /// 406: a known encoding of a form that is not.
    pub(crate) fn unknown_form() -> Self {
        let message = "only the following media types are accepted: application/json, \
                       application/yaml, application/vnd.kubernetes.protobuf";
        Self::new(406, "NotAcceptable", message)
    }

    /// 409: the name is taken.
    pub(crate) fn already_exists(id: &ResourceId, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{id} {name:?} already exists"),
        )
        .about(Details::of(id, name))
    }

    /// 409: the name is taken by something that is on its way out.
    pub(crate) fn still_exists(id: &ResourceId, name: &str) -> Self {
        let mut error = Self::already_exists(id, name);
        error.message = format!("object is being deleted: {}", error.message);
        error
    }

    /// 409: the object is not as the client believes.
    pub(crate) fn conflict(id: &ResourceId, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {id} {name:?}: {why}");
        Self::new(409, "Conflict", message).about(Details::of(id, name))
    }

    /// 409: the object has a newer revision than the client's.
    pub(crate) fn stale(id: &ResourceId, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version \
                   and try again";
        Self::conflict(id, name, why)
    }

    /// 410: what the client wants to read is no longer kept.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 415: a body of a type that is not understood.
    pub(crate) fn unsupported_media_type() -> Self {
        let message = "415: Unsupported Media Type";
        Self::new(415, "UnsupportedMediaType", message).about(Details::default())
    }

    /// 422: the patch does not fit the object.
    pub(crate) fn unprocessable_patch() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(422, "Invalid", message).about(Details::default())
    }

    /// 422: these fields are wrong. One mistake is written once, however often it was found.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let what = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let mut texts: Vec<String> = Vec::new();
        for text in errors.iter().map(ToString::to_string) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let text = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        Self::new(
            422,
            "Invalid",
            format!("{what} {name:?} is invalid: {text}"),
        )
        .about(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes: errors.iter().map(Cause::from).collect(),
            ..Details::default()
        })
    }

    /// 500, with no reason given.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 504: the client has seen a revision that this server has not.
    pub(crate) fn too_large_revision(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let cause = Cause {
            reason: "ResourceVersionTooLarge",
            message: "Too large resource version".into(),
            field: String::new(),
        };
        Self::new(504, "Timeout", message).about(Details {
            causes: vec![cause],
            retry_after_seconds: 1,
            ..Details::default()
        })
    }

    /// The `Status` object.
    pub fn to_status(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(token) = &self.continue_token {
            metadata.insert("continue".into(), token.as_str().into());
        }
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.to_value();
        }
        status
    }
}

impl Details {
    /// Details that name an object, or a whole resource when the name is empty.
    pub(crate) fn of(id: &ResourceId, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            group: id.group.to_string(),
            kind: id.plural.to_string(),
            ..Self::default()
        }
    }

    fn to_value(&self) -> Value {
        let mut out = Map::new();
        for (key, text) in [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.kind),
        ] {
            if !text.is_empty() {
                out.insert(key.into(), text.as_str().into());
            }
        }
        if !self.causes.is_empty() {
            let causes = self.causes.iter().map(Cause::to_value).collect();
            out.insert("causes".into(), Value::Array(causes));
        }
        if self.retry_after_seconds > 0 {
            out.insert("retryAfterSeconds".into(), self.retry_after_seconds.into());
        }
        Value::Object(out)
    }
}

impl From<&FieldError> for Cause {
    fn from(error: &FieldError) -> Self {
        Self {
            reason: error.reason(),
            message: error.message(),
            field: error.field.clone(),
        }
    }
}

impl Cause {
    fn to_value(&self) -> Value {
        let mut cause = json!({"message": self.message});
        if !self.reason.is_empty() {
            cause["reason"] = self.reason.into();
        }
        if !self.field.is_empty() {
            cause["field"] = self.field.as_str().into();
        }
        cause
    }
}

/// The `Status` object of a deletion that is done.
pub(crate) fn deleted(id: &ResourceId, name: &str, uid: &str) -> Value {
    let mut details = Details::of(id, name).to_value();
    details["uid"] = uid.into();
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    })
}
