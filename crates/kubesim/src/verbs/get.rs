//! Reading one object.

use super::Call;
use crate::faults::Freshness;
use crate::reply::Reply;
use crate::request::{Form, GetOptions};
use crate::status::ApiError;
use crate::store::Object;

impl Call<'_> {
    pub(super) fn get(&self, name: &str) -> Result<Reply, ApiError> {
        let object = self.read(name)?;
        if self.accept.form == Form::MetadataList {
            let what = self.resource.go_type("");
            return Err(wrong_form(&format!(
                "PartialObjectMetadataList, but the requested object is not a list ({what})"
            )));
        }
        Ok(self.shown(200, &object))
    }

    /// The object of this name as the client sees the cluster.
    pub(super) fn read(&self, name: &str) -> Result<Object, ApiError> {
        let options = GetOptions::read(&self.request.query)?;
        self.must_have_seen(options.not_older_than)?;
        let freshness = freshness(options.not_older_than);
        let found = self
            .sight
            .get(&self.resource.stored, &self.key(name), freshness);
        found.ok_or_else(|| ApiError::not_found(&self.resource.id, name))
    }

    /// Refuses a read that wants to be newer than anything there is.
    pub(super) fn must_have_seen(&self, revision: Option<u64>) -> Result<(), ApiError> {
        let current = self.sight.revision(freshness(revision));
        match revision {
            Some(asked) if asked > current => Err(ApiError::too_large_revision(asked, current)),
            _ => Ok(()),
        }
    }
}

/// A list was asked for as one object, or the other way round.
pub(super) fn wrong_form(what: &str) -> ApiError {
    ApiError::new(406, "NotAcceptable", format!("you requested {what}"))
}

/// A read that names a revision takes what a cache has; one that does not wants the latest.
pub(super) fn freshness(revision: Option<u64>) -> Freshness {
    if revision.is_some() {
        Freshness::Cached
    } else {
        Freshness::Latest
    }
}
