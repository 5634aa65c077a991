//! From the body of a write to an object of the resource that it is written to.

use serde_json::Value;

use super::Call;
use crate::registry::{ResourceType, to_stored};
use crate::request::{self, Decoded, FieldValidation};
use crate::status::ApiError;
use crate::{meta, structural};

/// An object that a client sent.
pub(super) struct Sent {
    pub(super) object: Value,
    pub(super) warnings: Vec<String>,
}

impl Call<'_> {
    /// The object in the body of a create or an update.
    pub(super) fn sent(&self, validation: FieldValidation) -> Result<Sent, ApiError> {
        let decoded = request::decode(&self.request.content_type, &self.request.body)?;
        let mut sent = typed(&self.resource, decoded, validation)?;
        self.place(&mut sent.object)?;
        to_stored(&mut sent.object, &self.resource);
        Ok(sent)
    }

    /// Puts the object into the namespace of the path, which it must not contradict.
    pub(super) fn place(&self, object: &mut Value) -> Result<(), ApiError> {
        let wanted = self.path.namespace.as_deref().unwrap_or_default();
        let found = meta::namespace(object);
        if !found.is_empty() && found != wanted {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(ApiError::bad_request(message));
        }
        if wanted.is_empty() {
            meta::remove(object, "namespace");
        } else {
            meta::set(object, "namespace", wanted);
        }
        Ok(())
    }
}

/// Takes a decoded body for an object of the resource: its kind must be right, its values of the
/// right types, and fields that nobody knows are dropped, with or without a word.
pub(super) fn typed(
    resource: &ResourceType,
    decoded: Decoded,
    validation: FieldValidation,
) -> Result<Sent, ApiError> {
    let Decoded {
        value: mut object,
        duplicates,
    } = decoded;
    if !object.is_object() {
        return Err(ApiError::bad_request(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct",
            json_type(&object)
        )));
    }
    check_kind(resource, &mut object)?;
    let mut faults: Vec<String> = duplicates
        .iter()
        .map(|path| format!("duplicate field {path:?}"))
        .collect();
    faults.extend(
        drop_unknown(resource, &mut object)?
            .iter()
            .map(|path| format!("unknown field {path:?}")),
    );
    judge(resource, faults, validation).map(|warnings| Sent { object, warnings })
}

/// Drops fields that the schema does not know, having seen that the others fit their types.
pub(super) fn drop_unknown(
    resource: &ResourceType,
    object: &mut Value,
) -> Result<Vec<String>, ApiError> {
    let schema = resource.schema();
    if !resource.is_custom()
        && let Some(complaint) = structural::type_mismatch(&schema, object, &resource.kind)
    {
        return Err(cannot_be_handled(resource, &resource.kind, &complaint));
    }
    Ok(structural::prune(&schema, object))
}

/// What the client's wish makes of faults that a lenient server would overlook.
pub(super) fn judge(
    resource: &ResourceType,
    faults: Vec<String>,
    validation: FieldValidation,
) -> Result<Vec<String>, ApiError> {
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(faults),
        FieldValidation::Strict if faults.is_empty() => Ok(Vec::new()),
        FieldValidation::Strict => {
            let text = format!("strict decoding error: {}", faults.join(", "));
            Err(cannot_be_handled(resource, &resource.kind, &text))
        }
    }
}

fn cannot_be_handled(resource: &ResourceType, kind: &str, why: &str) -> ApiError {
    let message = format!(
        "{kind} in version {:?} cannot be handled as a {}: {why}",
        &*resource.version, resource.kind
    );
    ApiError::bad_request(message)
}

/// Built-in objects may leave out what they are; nobody may say something else.
fn check_kind(resource: &ResourceType, object: &mut Value) -> Result<(), ApiError> {
    let text = |name: &str| {
        object
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if kind.is_empty() && resource.is_custom() {
        return Err(ApiError::bad_request(format!(
            "Object 'Kind' is missing in '{object}'"
        )));
    }
    if !api_version.is_empty() && api_version != *resource.api_version {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            resource.api_version
        )));
    }
    if !kind.is_empty() && kind != *resource.kind {
        return Err(wrong_kind(resource, &kind));
    }
    object["apiVersion"] = (*resource.api_version).into();
    object["kind"] = (*resource.kind).into();
    Ok(())
}

fn wrong_kind(resource: &ResourceType, kind: &str) -> ApiError {
    let group = resource.id.group.split('.').next().unwrap_or_default();
    let package = if group.is_empty() { "core" } else { group };
    let why = format!(
        "converting ({}.{kind}) to ({package}.{}): unknown conversion",
        resource.version, resource.kind
    );
    cannot_be_handled(resource, kind, &why)
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
