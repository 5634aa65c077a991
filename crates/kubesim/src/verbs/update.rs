//! Replacing an object.

use serde_json::Value;

use super::Call;
use super::writing::{Change, Written};
use crate::meta;
use crate::reply::Reply;
use crate::request::WriteOptions;
use crate::status::ApiError;

impl Call<'_> {
    pub(super) fn update(&self, name: &str, subresource: &str) -> Result<Reply, ApiError> {
        let options = WriteOptions::read(&self.request.query, "UpdateOptions")?;
        let sent = self.sent(options.validation)?;
        check_name(&sent.object, name)?;
        let written = self
            .writing(subresource, &options)
            .update(&self.key(name), |live| {
                match live {
                    Some(live) => self.check_uid(live, &sent.object)?,
                    None => self.may_create_by_update(name, subresource)?,
                }
                Ok(Change::Replaced(sent.object.clone()))
            })?;
        Ok(self.written(written, sent.warnings))
    }

    /// The answer to a write, with what was to be said of the request and of the object.
    pub(super) fn written(&self, written: Written, mut warnings: Vec<String>) -> Reply {
        let code = if written.created { 201 } else { 200 };
        warnings.extend(written.warnings);
        self.shown(code, &written.object).warning(warnings)
    }

    fn may_create_by_update(&self, name: &str, subresource: &str) -> Result<(), ApiError> {
        if subresource.is_empty() && self.resource.creates_on_update() {
            return Ok(());
        }
        Err(ApiError::not_found(&self.resource.id, name))
    }

    /// A uid in an update is a condition.
    pub(super) fn check_uid(&self, live: &Value, sent: &Value) -> Result<(), ApiError> {
        let (wanted, found) = (meta::uid(sent), meta::uid(live));
        if wanted.is_empty() || wanted == found {
            return Ok(());
        }
        let name = meta::name(live);
        let key = self.resource.storage_path(&self.key(name));
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, \
             AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in \
             object meta: {found}"
        );
        Err(ApiError::conflict(&self.resource.id, name, &why))
    }
}

/// The object must be the one that the path names.
pub(super) fn check_name(object: &Value, name: &str) -> Result<(), ApiError> {
    match meta::name(object) {
        found if found == name => Ok(()),
        "" => Err(ApiError::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        found => Err(ApiError::bad_request(format!(
            "the name of the object ({found}) does not match the name on the URL ({name})"
        ))),
    }
}
