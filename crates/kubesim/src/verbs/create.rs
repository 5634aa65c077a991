//! Creating an object.

use super::Call;
use super::writing::Writing;
use crate::access::Review;
use crate::reply::Reply;
use crate::request::WriteOptions;
use crate::status::ApiError;

impl Call<'_> {
    pub(super) fn create(&self) -> Result<Reply, ApiError> {
        let options = WriteOptions::read(&self.request.query, "CreateOptions")?;
        let sent = self.sent(options.validation)?;
        if let Some(review) = Review::of(&self.resource) {
            return self.review(review, sent.object, &options);
        }
        let written = self.writing("", &options).create(sent.object)?;
        Ok(self.written(written, sent.warnings))
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
            actor: self.user,
        }
    }
}
