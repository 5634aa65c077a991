//! Creating an object.

use super::Call;
use super::present::Shown;
use super::writing::Writing;
use crate::reply::Reply;
use crate::request::WriteOptions;
use crate::status::ApiError;

impl Call<'_> {
    pub(super) fn create(&self) -> Result<Reply, ApiError> {
        let options = WriteOptions::read(&self.request.query, "CreateOptions")?;
        let sent = self.sent(options.validation)?;
        let object = self.writing("", &options).create(sent.object)?;
        let shown = Shown::alone(&object, &self.resource, self.accept.form);
        Ok(Reply::with_code(201, &shown).warning(sent.warnings))
    }

    /// Writing as this request's client.
    pub(super) fn writing<'a>(
        &'a self,
        subresource: &'a str,
        options: &'a WriteOptions,
    ) -> Writing<'a> {
        Writing {
            cluster: self.cluster,
            resource: &self.stored,
            subresource,
            manager: options.manager.as_deref().unwrap_or(&self.default_manager),
            dry_run: options.dry_run,
        }
    }
}
