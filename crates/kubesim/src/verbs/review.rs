//! Questions that are posted as objects, and tokens.

use serde_json::Value;

use super::Call;
use crate::access::{self, Review};
use crate::reply::Reply;
use crate::request::{self, WriteOptions};
use crate::status::ApiError;

impl Call<'_> {
    /// Answers a question about rights. Nothing is stored.
    pub(super) fn review(
        &self,
        review: Review,
        object: Value,
        options: &WriteOptions,
    ) -> Result<Reply, ApiError> {
        let object = self.writing("", options).unsaved(object);
        let answer = review.answer(self.cluster, self.user, object)?;
        Ok(Reply::with_code(201, &answer))
    }

    /// Makes a token of a service account.
    pub(super) fn token(&self, name: &str) -> Result<Reply, ApiError> {
        let account = self
            .cluster
            .store()
            .get(&self.resource.stored, &self.key(name));
        let account = account.ok_or_else(|| ApiError::not_found(&self.resource.id, name))?;
        let asked = request::decode(&self.request.content_type, &self.request.body)?.value;
        let answer = access::token_request(self.cluster, &account, asked)?;
        Ok(Reply::with_code(201, &answer))
    }
}
