//! Changing a part of an object: JSON patch, merge patch and server-side apply.

use serde_json::Value;

use super::Call;
use super::decode::{drop_unknown, judge};
use super::present::in_version;
use super::update::check_name;
use super::writing::{Change, Writing, Written};
use crate::merge::{self, ApplyError};
use crate::patch::{self, JsonPatch, MergePatch, Patch, PatchError};
use crate::registry::{ResourceType, to_stored};
use crate::reply::Reply;
use crate::request::{self, WriteOptions};
use crate::status::{ApiError, Cause, Details};

/// The ways to write a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Merge,
    Apply,
}

impl Kind {
    pub(super) fn of(content_type: &str) -> Result<Self, ApiError> {
        match request::media_type(content_type) {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ => Err(ApiError::unsupported_media_type()),
        }
    }
}

impl Call<'_> {
    pub(super) fn patch(&self, name: &str, subresource: &str) -> Result<Reply, ApiError> {
        let kind = Kind::of(&self.request.content_type)?;
        let options = WriteOptions::read_patch(&self.request.query, kind == Kind::Apply)?;
        let writing = self.writing(subresource, &options);
        let mut warnings = Vec::new();
        let written = match kind {
            Kind::Apply => self.apply(name, &writing, &options)?,
            Kind::Json | Kind::Merge => writing.update(&self.key(name), |live| {
                let live = live.ok_or_else(|| ApiError::not_found(&self.resource.id, name))?;
                let mut patched = self.patched(kind, &in_version(live, &self.resource))?;
                let unknown = drop_unknown(&self.resource, &mut patched)?;
                let faults = unknown
                    .iter()
                    .map(|path| format!("unknown field {path:?}"))
                    .collect();
                warnings = judge(&self.resource, faults, options.validation)?;
                self.as_target(live, patched, name).map(Change::Replaced)
            })?,
        };
        Ok(self.written(&written).warning(warnings))
    }

    /// The live object with the patch in the body laid over it.
    pub(super) fn patched(&self, kind: Kind, live: &Value) -> Result<Value, ApiError> {
        let body = &self.request.body;
        let patch = match kind {
            Kind::Json => JsonPatch::decode(body).map(Patch::Json),
            Kind::Merge | Kind::Apply => MergePatch::decode(body).map(Patch::Merge),
        };
        patch
            .and_then(|patch| patch.apply(live))
            .map_err(patch_error)
    }

    /// The patched object must still be the one that the path names.
    fn as_target(&self, live: &Value, mut object: Value, name: &str) -> Result<Value, ApiError> {
        self.place(&mut object)?;
        check_name(&object, name)?;
        self.check_uid(live, &object)?;
        to_stored(&mut object, &self.resource);
        Ok(object)
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
            self.place(&mut object)?;
            check_name(&object, name)?;
            to_stored(&mut object, &self.resource);
            Ok(Change::Applied(object))
        })
    }
}

/// What is applied must be an object of the resource.
fn check_intent(resource: &ResourceType, intent: &Value) -> Result<(), ApiError> {
    if !intent.is_object() {
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

fn patch_error(error: PatchError) -> ApiError {
    match &error {
        PatchError::Undecodable(_) => ApiError::bad_request(error.to_string()),
        PatchError::TooManyOperations { .. } => {
            ApiError::new(413, "RequestEntityTooLarge", error.to_string())
        }
        PatchError::Unprocessable(_) => ApiError::unprocessable_patch(),
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
