//! Patches that a client computes itself: JSON patch, merge patch and strategic merge patch.
//!
//! ```text
//! body --decode--> Patch --apply to the live object--> new object
//! ```
//!
//! Applied objects (server-side apply) are in [`crate::merge`].

mod element_order;
mod json;
mod merge_patch;
mod strategic;
mod written;

use serde_json::Value;

use crate::schema::Schema;

pub use json::JsonPatch;
pub use merge_patch::MergePatch;
pub use strategic::StrategicPatch;
pub(crate) use written::written;

/// A decoded patch.
#[derive(Debug, Clone, PartialEq)]
pub enum Patch {
    /// A list of operations (RFC 6902).
    Json(JsonPatch),
    /// An object to lay over the live one (RFC 7386).
    Merge(MergePatch),
    /// The same with directives, and lists that merge by the keys of their type.
    Strategic(StrategicPatch),
}

impl Patch {
    /// The live object of this type with the patch applied.
    pub fn apply(&self, live: &Value, schema: &Schema) -> Result<Value, PatchError> {
        match self {
            Self::Json(patch) => patch.apply(live),
            Self::Merge(patch) => Ok(patch.apply(live)),
            Self::Strategic(patch) => patch.apply(live, schema),
        }
    }
}

/// Why a patch fails; each kind has its own status code.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The body is not a patch of its kind (400); the text is the reply's.
    #[error("{0}")]
    Undecodable(String),
    /// More operations than the server takes (413); the text is the reply's.
    #[error("The allowed maximum operations in a JSON patch is {allowed}, got {got}")]
    TooManyOperations {
        /// The server's limit.
        allowed: usize,
        /// What was sent.
        got: usize,
    },
    /// The patch does not fit the object: a path that is not there, a failed test (422, with the
    /// server's general message; this text only explains it).
    #[error("the patch does not fit the object: {0}")]
    Unprocessable(String),
    /// A directive of a strategic merge patch that cannot be followed (500; the text is the
    /// reply's).
    #[error("{0}")]
    Failed(String),
}

impl PatchError {
    /// A body that is not JSON.
    fn syntax(error: &serde_json::Error) -> Self {
        Self::Undecodable(format!("error decoding patch: {error}"))
    }

    /// JSON of another type than the server's own, which the reply names.
    fn type_of(value: &Value, wanted: &str) -> Self {
        let mismatch = type_mismatch(value, wanted);
        Self::Undecodable(format!("error decoding patch: {mismatch}"))
    }
}

/// What the server's JSON reader says of a value of another type.
pub(crate) fn type_mismatch(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}
