//! Reading many objects, in pages if the client wants that.

use std::ops::Bound;

use serde_json::Value;

use super::Call;
use super::continuation::Continuation;
use super::get::{freshness, wrong_form};
use super::present::ListMetadata;
use crate::reply::Reply;
use crate::request::{Form, ListOptions, RevisionMatch};
use crate::status::ApiError;
use crate::store::{Key, Object, Snapshot};

const TOO_OLD: &str = "The resourceVersion for the provided list is too old.";
const TOKEN_TOO_OLD: &str = "The provided continue parameter is too old to display a consistent \
    list result. You can start a new list without the continue parameter, or use the continue \
    token in this response to retrieve the remainder of the results. Continuing with the provided \
    token results in an inconsistent list - objects that were created, modified, or deleted \
    between the time the first chunk was returned and now may show up in the list.";

/// The part of a list that goes into one answer.
struct Page {
    objects: Vec<Object>,
    /// The last key of the page and how many objects follow it, selected or not.
    rest: Option<(Key, usize)>,
}

impl Call<'_> {
    pub(super) fn list(&self) -> Result<Reply, ApiError> {
        if self.accept.form == Form::Metadata {
            let what = self.resource.go_type("List");
            return Err(wrong_form(&format!(
                "PartialObjectMetadata, but the requested object is a list ({what})"
            )));
        }
        let options = ListOptions::read(&self.request.query, &self.resource.field_labels)?;
        let token = options
            .continue_token
            .as_deref()
            .map(Continuation::decode)
            .transpose()?;
        let snapshot = self.snapshot(&options, token.as_ref())?;
        let page = self.page(&snapshot, &options, token.as_ref());
        let metadata = self.list_metadata(&snapshot, &options, &page);
        let objects = page.objects.iter().map(|object| &**object as &Value);
        Ok(self.shown_list(metadata, objects))
    }

    /// The objects at the revision that the options or the token ask for.
    fn snapshot(
        &self,
        options: &ListOptions,
        token: Option<&Continuation>,
    ) -> Result<Snapshot, ApiError> {
        let stored = &self.resource.stored;
        if let Some(token) = token {
            if options.revision.is_some_and(|revision| revision > 0) {
                let message = "specifying resource version is not allowed when using continue";
                return Err(ApiError::bad_request(message));
            }
            return match token.revision {
                Some(revision) => self
                    .sight
                    .snapshot_at(stored, revision)
                    .map_err(|_| token.expired(TOKEN_TOO_OLD)),
                None => Ok(self.sight.snapshot(stored, freshness(options.revision))),
            };
        }
        self.must_have_seen(options.revision)?;
        match exact_revision(options) {
            Some(revision) => self
                .sight
                .snapshot_at(stored, revision)
                .map_err(|_| ApiError::expired(TOO_OLD)),
            None => Ok(self.sight.snapshot(stored, freshness(options.revision))),
        }
    }

    fn page(
        &self,
        snapshot: &Snapshot,
        options: &ListOptions,
        token: Option<&Continuation>,
    ) -> Page {
        let namespace = self.path.namespace.as_deref();
        let limit = options.limit.unwrap_or(usize::MAX);
        let mut objects = Vec::new();
        let mut last = None;
        let mut coming = self
            .after(snapshot, token)
            .take_while(|(key, _)| key.is_in(namespace));
        while objects.len() < limit {
            let Some((key, object)) = coming.next() else {
                break;
            };
            last = Some(key);
            if options.selectors.matches(object) {
                objects.push(object.clone());
            }
        }
        let rest = last
            .cloned()
            .zip(Some(coming.count()))
            .filter(|(_, count)| *count > 0);
        Page { objects, rest }
    }

    /// Everything behind the place where the last page ended.
    fn after<'a>(
        &self,
        snapshot: &'a Snapshot,
        token: Option<&Continuation>,
    ) -> impl Iterator<Item = (&'a Key, &'a Object)> {
        let namespace = self.path.namespace.as_deref();
        let prefix = namespace
            .map(|namespace| format!("{namespace}/"))
            .unwrap_or_default();
        let start = token.map(|token| token.after.as_str()).unwrap_or_default();
        let start = Key::from(format!("{prefix}{start}").as_str());
        snapshot
            .objects
            .range((Bound::Included(start), Bound::Unbounded))
    }

    fn list_metadata(
        &self,
        snapshot: &Snapshot,
        options: &ListOptions,
        page: &Page,
    ) -> ListMetadata {
        let token = page.rest.as_ref().map(|(last, _)| {
            let after = match &self.path.namespace {
                Some(_) => last.name(),
                None => last.as_str(),
            };
            Continuation {
                revision: Some(snapshot.revision),
                after: format!("{after}\0"),
            }
            .encode()
        });
        let remaining = page.rest.as_ref().map(|(_, count)| *count);
        // Lists of custom resources say it even when there is nothing to continue.
        let unstructured = self.resource.is_custom() && self.accept.form == Form::Object;
        ListMetadata {
            resource_version: snapshot.revision.to_string(),
            r#continue: token.or_else(|| unstructured.then(String::new)),
            remaining_item_count: remaining.filter(|_| options.selectors.is_empty()),
        }
    }
}

/// A list is of exactly one revision when it says so, or when it is read in pages from one.
fn exact_revision(options: &ListOptions) -> Option<u64> {
    let revision = options.revision.filter(|revision| *revision > 0);
    match options.revision_match {
        Some(RevisionMatch::Exact) => revision,
        Some(RevisionMatch::NotOlderThan) => None,
        None => revision.filter(|_| options.limit.is_some()),
    }
}
