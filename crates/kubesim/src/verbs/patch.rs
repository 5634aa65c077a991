//! Changing a part of an object: JSON patch, merge patch, strategic merge patch and server-side
//! apply.

use serde_json::Value;

use super::Call;
use super::decode::{conversion_fault, drop_unknown};
use super::update::check_name;
use super::writing::{Change, Writing, Written};
use crate::field_error::{FieldError, Path, go_text};
use crate::merge::{self, ApplyError};
use crate::meta;
use crate::patch::{self, JsonPatch, MergePatch, Patch, PatchError, StrategicPatch};
use crate::registry::{ResourceType, in_version, to_stored};
use crate::reply::Reply;
use crate::request::{self, FieldValidation, WriteOptions};
use crate::status::{ApiError, Cause, Details};

/// The ways to write a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Kind {
    pub(super) fn of(content_type: &str) -> Result<Self, ApiError> {
        match request::media_type(content_type) {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" => Ok(Self::Strategic),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ => Err(ApiError::unsupported_media_type()),
        }
    }
}

impl Call<'_> {
    pub(super) fn patch(&self, name: &str, subresource: &str) -> Result<Reply, ApiError> {
        let kind = self.patch_kind()?;
        let options = WriteOptions::read_patch(&self.request.query, kind == Kind::Apply)?;
        let writing = self.writing(subresource, &options);
        let mut warnings = Vec::new();
        let written = match kind {
            Kind::Apply => self.apply(name, &writing, &options)?,
            Kind::Json | Kind::Merge | Kind::Strategic => {
                writing.update(&self.key(name), |live| {
                    let live = live.ok_or_else(|| ApiError::not_found(&self.resource.id, name))?;
                    let live = in_version(live, &self.resource);
                    let patched = || self.patched(kind, &live);
                    let (patched, found) = self.retyped(kind, patched, options.validation)?;
                    warnings = found;
                    self.as_target(patched, name).map(Change::Replaced)
                })?
            }
        };
        Ok(self.written(written, warnings))
    }

    fn patch_kind(&self) -> Result<Kind, ApiError> {
        let strategic = "application/strategic-merge-patch+json";
        if self.resource.is_custom() && request::media_type(&self.request.content_type) == strategic
        {
            let message = "the body of the request was in an unknown format - accepted media types \
                           include: application/json-patch+json, application/merge-patch+json, \
                           application/apply-patch+yaml";
            return Err(ApiError::new(415, "UnsupportedMediaType", message));
        }
        Kind::of(&self.request.content_type)
    }

    /// The live object with the patch in the body laid over it.
    pub(super) fn patched(&self, kind: Kind, live: &Value) -> Result<Value, ApiError> {
        let body = &self.request.body;
        let patch = match kind {
            Kind::Json => JsonPatch::decode(body).map(Patch::Json),
            Kind::Strategic => StrategicPatch::decode(body).map(Patch::Strategic),
            Kind::Merge | Kind::Apply => MergePatch::decode(body).map(Patch::Merge),
        };
        patch
            .and_then(|patch| patch.apply(live, &self.resource.schema()))
            .map_err(|error| patch_error(&error))
    }

    /// The patched object taken for one of the resource. What is wrong with it is wrong with the
    /// patch, and is told together with all that it led to.
    fn retyped(
        &self,
        kind: Kind,
        patched: impl Fn() -> Result<Value, ApiError>,
        validation: FieldValidation,
    ) -> Result<(Value, Vec<String>), ApiError> {
        let faulty = |why: &str| match patched() {
            Err(error) => error,
            Ok(whole) => {
                let shown = match kind {
                    Kind::Strategic => self.patch_text(),
                    _ if self.resource.is_custom() => whole.to_string(),
                    _ => patch::written(&whole),
                };
                let error = FieldError::invalid(&Path::field("patch"), shown, why);
                ApiError::invalid("", "", "", &[error])
            }
        };
        let mut object = patched()?;
        let kind = object["kind"].as_str().unwrap_or_default();
        if !self.resource.is_custom() && kind != &*self.resource.kind {
            return Err(faulty(&conversion_fault(&self.resource, kind)));
        }
        let unknown = drop_unknown(&self.resource, &mut object).map_err(|why| faulty(&why))?;
        let faults: Vec<String> = unknown
            .iter()
            .map(|path| format!("unknown field {path:?}"))
            .collect();
        match validation {
            FieldValidation::Strict if !faults.is_empty() => Err(faulty(&format!(
                "strict decoding error: {}",
                faults.join(", ")
            ))),
            FieldValidation::Ignore => Ok((object, Vec::new())),
            FieldValidation::Warn | FieldValidation::Strict => Ok((object, faults)),
        }
    }

    /// The patch itself, as the server's own language prints it.
    fn patch_text(&self) -> String {
        let patch: Value = serde_json::from_slice(&self.request.body).unwrap_or_default();
        go_text(&patch)
    }

    /// The patched object must still be the one that the path names.
    fn as_target(&self, mut object: Value, name: &str) -> Result<Value, ApiError> {
        self.place(&mut object)?;
        check_name(&object, name)?;
        to_stored(&mut object, &self.resource);
        Ok(object)
    }

    /// Who names a uid means an object that is there.
    fn refuse_uid_of_nothing(&self, intent: &Value, name: &str) -> Result<(), ApiError> {
        match meta::uid(intent) {
            "" => Ok(()),
            uid => {
                let why = format!(
                    "uid mismatch: the provided object specified uid {uid}, and no existing object \
                     was found"
                );
                Err(ApiError::conflict(&self.resource.id, name, &why))
            }
        }
    }

    fn apply(
        &self,
        name: &str,
        writing: &Writing<'_>,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        let intent = request::decode_patch_yaml(&self.request.body)?.value;
        check_intent(&self.resource, &intent)?;
        let schema = self.resource.schema();
        let reset = self.resource.reset_fields(writing.subresource);
        writing.update(&self.key(name), |live| {
            if live.is_none() && !writing.subresource.is_empty() {
                return Err(ApiError::not_found(&self.resource.id, name));
            }
            if live.is_none() {
                self.refuse_uid_of_nothing(&intent, name)?;
            }
            let live = live.map(|live| in_version(live, &self.resource));
            let applied = merge::apply(
                live.as_deref(),
                &intent,
                &schema,
                &writing.writer(),
                reset,
                options.force,
            );
            let mut object = applied.map_err(apply_error)?;
            if writing.manager == "kubectl" {
                renew_last_applied(&mut object, &intent);
            }
            self.place(&mut object)?;
            check_name(&object, name)?;
            to_stored(&mut object, &self.resource);
            Ok(Change::Applied(object))
        })
    }
}

/// Where kubectl, applying on its own side, remembers what it applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Keeps what kubectl remembers up to date, where it remembers something.
fn renew_last_applied(object: &mut Value, intent: &Value) {
    let annotations = object.pointer_mut("/metadata/annotations");
    let Some(remembered) = annotations.and_then(|found| found.get_mut(LAST_APPLIED)) else {
        return;
    };
    let mut applied = intent.clone();
    if let Some(Value::Object(own)) = applied.pointer_mut("/metadata/annotations") {
        own.remove(LAST_APPLIED);
    }
    *remembered = format!("{applied}\n").into();
}

/// What is applied must be an object of the resource.
fn check_intent(resource: &ResourceType, intent: &Value) -> Result<(), ApiError> {
    if !intent.is_object() && !intent.is_null() {
        let mismatch = patch::type_mismatch(intent, "map[string]interface {}");
        return Err(ApiError::bad_request(format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: {mismatch}"
        )));
    }
    let text = |key: &str| intent.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if api_version == &*resource.api_version && kind == &*resource.kind {
        return Ok(());
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Err(ApiError::bad_request(format!(
        "invalid object type: {group}/{version}, Kind={kind}"
    )))
}

fn patch_error(error: &PatchError) -> ApiError {
    match error {
        PatchError::Undecodable(_) => ApiError::bad_request(error.to_string()),
        PatchError::TooManyOperations { .. } => {
            ApiError::new(413, "RequestEntityTooLarge", error.to_string())
        }
        PatchError::Unprocessable(_) => ApiError::unprocessable_patch(),
        PatchError::Failed(_) => ApiError::internal(error.to_string()),
    }
}

fn apply_error(error: ApplyError) -> ApiError {
    match error {
        ApplyError::ManagedFieldsGiven => ApiError::bad_request(error.to_string()),
        ApplyError::Conflicts(conflicts) => {
            let cause = |conflict: &merge::Conflict| Cause {
                reason: "FieldManagerConflict",
                message: conflict.message(),
                field: conflict.path.clone(),
            };
            ApiError::new(409, "Conflict", conflicts.to_string()).about(Details {
                causes: conflicts.iter().map(cause).collect(),
                ..Details::default()
            })
        }
        other => ApiError::internal(other.to_string()),
    }
}
