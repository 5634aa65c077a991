//! From the body of a write to an object of the resource that it is written to.

use serde_json::Value;

use super::Call;
use crate::field_error::{FieldError, Path};
use crate::registry::{ResourceType, to_stored};
use crate::request::{self, Decoded, FieldValidation};
use crate::schema::Shape;
use crate::status::ApiError;
use crate::{meta, schema, structural};

/// An object that a client sent.
pub(super) struct Sent {
    pub(super) object: Value,
    pub(super) warnings: Vec<String>,
}

impl Call<'_> {
    /// The object in the body of a create or an update.
    pub(super) fn sent(&self, validation: FieldValidation) -> Result<Sent, ApiError> {
        let decoded = self.decoded()?;
        let mut sent = typed(&self.resource, decoded, validation)?;
        self.place(&mut sent.object)?;
        to_stored(&mut sent.object, &self.resource);
        Ok(sent)
    }

    /// The body, which must be an object at least.
    fn decoded(&self) -> Result<Decoded, ApiError> {
        let body = &self.request.body;
        let decoded = match request::decode(&self.request.content_type, body) {
            Ok(decoded) if !decoded.value.is_object() => Err(ApiError::bad_request(format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go \
                 value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
                 Kind string \"json:\\\"kind,omitempty\\\"\" }}",
                json_type(&decoded.value)
            ))),
            decoded => decoded,
        };
        decoded.map_err(|error| match error.code {
            400 => ApiError::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): {} ({})",
                self.resource.kind,
                error.message,
                summary(body)
            )),
            _ => error,
        })
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
    check_kind(resource, &mut object)?;
    let mut faults: Vec<String> = duplicates
        .iter()
        .map(|path| format!("duplicate field {path:?}"))
        .collect();
    let unknown = drop_unknown(resource, &mut object)
        .map_err(|why| cannot_be_handled(resource, &resource.kind, &why))?;
    faults.extend(unknown.iter().map(|path| format!("unknown field {path:?}")));
    judge(resource, faults, validation).map(|warnings| Sent { object, warnings })
}

/// Drops fields that the schema does not know, and nulls that it does not allow, having seen that
/// the others fit their types.
pub(super) fn drop_unknown(
    resource: &ResourceType,
    object: &mut Value,
) -> Result<Vec<String>, String> {
    let schema = resource.schema();
    let complaint = match resource.is_custom() {
        true => metadata_mismatch(object),
        false => structural::type_mismatch(&schema, object, &resource.kind),
    };
    if let Some(complaint) = complaint {
        return Err(complaint);
    }
    let unknown = structural::prune(&schema, object);
    if resource.is_custom() {
        structural::drop_nulls(&schema, object);
    }
    Ok(unknown)
}

/// The metadata of custom resources is of a built-in type too.
fn metadata_mismatch(object: &Value) -> Option<String> {
    let some_kind = schema::builtin("", "v1", "ConfigMap")?;
    let Shape::Struct(fields) = &some_kind.shape else {
        return None;
    };
    structural::type_mismatch(
        fields.fields.get("metadata")?,
        object.get("metadata")?,
        "ObjectMeta",
    )
}

/// What the client's wish makes of faults that a lenient server would overlook.
fn judge(
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
    let own = |said: &str, own: &str| said.is_empty() || said == own;
    if !own(&api_version, &resource.api_version) {
        return Err(wrong_version(resource, &api_version, &kind));
    }
    if !own(&kind, &resource.kind) {
        return Err(wrong_kind(resource, &kind, meta::name(object)));
    }
    object["apiVersion"] = (*resource.api_version).into();
    object["kind"] = (*resource.kind).into();
    Ok(())
}

fn wrong_version(resource: &ResourceType, api_version: &str, kind: &str) -> ApiError {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if resource.is_custom() || schema::builtin(group, version, kind).is_some() {
        return ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            resource.api_version
        ));
    }
    ApiError::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {}: no kind {kind:?} is registered for \
         version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\"",
        resource.kind
    ))
}

fn wrong_kind(resource: &ResourceType, kind: &str, name: &str) -> ApiError {
    if resource.is_custom() {
        let detail = format!("must be {}", resource.kind);
        let error = FieldError::invalid(&Path::field("kind"), kind, detail);
        return ApiError::invalid(&resource.id.group, kind, name, &[error]);
    }
    cannot_be_handled(resource, kind, &conversion_fault(resource, kind))
}

/// Why an object of another kind is none of this resource.
pub(super) fn conversion_fault(resource: &ResourceType, kind: &str) -> String {
    let ResourceType {
        version, kind: own, ..
    } = resource;
    format!(
        "converting ({version}.{kind}) to ({}.{own}): unknown conversion",
        resource.go_package()
    )
}

/// The beginning of a body that nobody understands.
fn summary(body: &[u8]) -> String {
    const LENGTH: usize = 30;
    let start = &body[..body.len().min(LENGTH)];
    let more = if body.len() > LENGTH { " ..." } else { "" };
    match body.first() {
        None => "<empty>".into(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(start)),
        Some(_) => {
            let hex: String = start.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hex}{more}")
        }
    }
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
