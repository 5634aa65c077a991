//! The requests that a set makes, each tried again while the server is busy.
//!
//! Every one of them may be sent twice without harm: applies name the whole object, deletes and
//! replacements carry preconditions. Replies carry metadata only, as nothing else is looked at.

use std::fmt::Debug;

use evenkeel_ambient::SharedRandom;
use evenkeel_reconcile::{Deletion, RetryPolicy};
use futures::Stream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kube::Client;
use kube::api::{
    DeleteParams, GetParams, ListParams, Patch, PatchParams, Preconditions, PropagationPolicy,
    ValidationDirective, WatchEvent, WatchParams,
};
use kube::core::Request;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::ask::Made;
use crate::error::Error;
use crate::key::ObjectKey;
use crate::metadata::{Managed, Seen};
use crate::resource::Resource;

/// One page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct Page<T> {
    #[serde(default)]
    pub(crate) metadata: ListMeta,
    /// A list without items may say so with a null.
    pub(crate) items: Option<Vec<T>>,
}

/// The server, and how it is spoken to.
#[derive(Clone)]
pub(crate) struct Calls {
    pub(crate) client: Client,
    /// The name under which fields are owned.
    pub(crate) manager: String,
    pub(crate) retry: RetryPolicy,
    pub(crate) dice: SharedRandom,
}

impl Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls")
            .field("manager", &self.manager)
            .finish_non_exhaustive()
    }
}

impl Calls {
    /// What the server would make of `body`; nothing is written.
    pub(crate) async fn try_apply(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        body: &Value,
    ) -> Result<Seen, Error> {
        let at = Request::new(resource.path(key.namespace.as_deref()));
        let (how, body) = (self.applying(true), Patch::Apply(body));
        let make = || at.patch_metadata(&key.name, &how, &body);
        self.ask(&format!("validate {key}"), make).await
    }

    /// The whole object that the server would make of `body`; nothing is written.
    pub(crate) async fn preview(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        body: &Value,
    ) -> Result<Value, Error> {
        let at = Request::new(resource.path(key.namespace.as_deref()));
        let (how, body) = (self.applying(true), Patch::Apply(body));
        let make = || at.patch(&key.name, &how, &body);
        self.ask(&format!("validate {key}"), make).await
    }

    /// Server-side apply of `body`. Whoever makes a new object does not take fields from others:
    /// if there are any, it is not new.
    pub(crate) async fn apply(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        body: &Value,
        is_new: bool,
    ) -> Result<Seen, Error> {
        let at = Request::new(resource.path(key.namespace.as_deref()));
        let mut how = self.applying(false);
        how.force = !is_new;
        let body = Patch::Apply(body);
        let make = || at.patch_metadata(&key.name, &how, &body);
        self.ask(&format!("apply {key}"), make).await
    }

    fn applying(&self, dry_run: bool) -> PatchParams {
        PatchParams {
            dry_run,
            force: true,
            field_manager: Some(self.manager.clone()),
            field_validation: Some(ValidationDirective::Strict),
        }
    }

    /// Takes fields away: a merge patch, which nobody but the caller's preconditions guards.
    pub(crate) async fn strip(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        without: &Value,
    ) -> Result<Option<Seen>, Error> {
        let how = PatchParams {
            field_manager: Some(self.manager.clone()),
            ..PatchParams::default()
        };
        let at = Request::new(resource.path(key.namespace.as_deref()));
        let make = || at.patch_metadata(&key.name, &how, &Patch::Merge(without));
        absent_is_none(self.ask(&format!("release {key}"), make).await)
    }

    /// Puts `entries` in the place of an object's managed fields, if it is at this `revision`.
    pub(crate) async fn set_managers(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        entries: &[Managed],
        revision: &str,
    ) -> Result<Seen, Error> {
        let patch = json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": entries},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": revision},
        ]);
        let patch = serde_json::from_value(patch).unwrap_or_default();
        let (how, patch) = (PatchParams::default(), Patch::<()>::Json(patch));
        let at = Request::new(resource.path(key.namespace.as_deref()));
        let make = || at.patch_metadata(&key.name, &how, &patch);
        self.ask(&format!("take over the fields of {key}"), make)
            .await
    }

    /// The metadata of one object, if it exists.
    pub(crate) async fn look(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Seen>, Error> {
        let at = Request::new(resource.path(key.namespace.as_deref()));
        let asked = self
            .ask(&format!("look at {key}"), || {
                at.get_metadata(&key.name, &GetParams::default())
            })
            .await;
        absent_is_none(asked)
    }

    /// One whole object, if it exists.
    pub(crate) async fn get(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Value>, Error> {
        let at = Request::new(resource.path(key.namespace.as_deref()));
        let asked = self
            .ask(&format!("read {key}"), || {
                at.get(&key.name, &GetParams::default())
            })
            .await;
        absent_is_none(asked)
    }

    /// Every object that `selector` selects, as metadata, and the revision of the list.
    pub(crate) async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<(Vec<Seen>, String), Error> {
        let at = Request::new(resource.path(namespace));
        self.pages(resource, selector, |how| at.list_metadata(how))
            .await
    }

    /// Every object that `selector` selects, whole.
    pub(crate) async fn list_whole(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selector: &str,
    ) -> Result<Vec<Value>, Error> {
        let at = Request::new(resource.path(namespace));
        let pages = self.pages(resource, Some(selector), |how| at.list(how));
        Ok(pages.await?.0)
    }

    async fn pages<T: DeserializeOwned>(
        &self,
        resource: &Resource,
        selector: Option<&str>,
        make: impl Fn(&ListParams) -> Made,
    ) -> Result<(Vec<T>, String), Error> {
        let attempt = format!("list {}", resource.kind);
        let mut how = ListParams::default().limit(500);
        how.label_selector = selector.map(str::to_owned);
        let mut all = Vec::new();
        loop {
            let page: Page<T> = self.ask(&attempt, || make(&how)).await?;
            all.extend(page.items.into_iter().flatten());
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => how.continue_token = Some(token),
                None => return Ok((all, page.metadata.resource_version.unwrap_or_default())),
            }
        }
    }

    /// What happens from `revision` on to the objects that `selector` selects. One try: whoever
    /// watches knows better what a refusal means.
    pub(crate) async fn watch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selector: &str,
        revision: &str,
    ) -> Result<impl Stream<Item = Result<WatchEvent<Seen>, kube::Error>> + use<>, Error> {
        let attempt = format!("watch {}", resource.kind);
        let fail = |error| Error::of_call(&attempt, error);
        let how = WatchParams::default().labels(selector).timeout(290);
        let request = Request::new(resource.path(namespace)).watch_metadata(&how, revision);
        let request = request.map_err(kube::Error::BuildRequest).map_err(fail)?;
        self.client
            .request_events::<Seen>(request)
            .await
            .map_err(fail)
    }

    /// Deletes an object if it is still this one.
    pub(crate) async fn delete(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        is: Preconditions,
    ) -> Result<Deletion, Error> {
        let how = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Background),
            preconditions: Some(is),
            ..DeleteParams::default()
        };
        let at = Request::new(resource.path(key.namespace.as_deref()));
        let asked = self
            .ask(&format!("delete {key}"), || at.delete(&key.name, &how))
            .await;
        let reply: Option<Value> = absent_is_none(asked)?;
        // A server answers with the object while something still holds it.
        let held =
            reply.is_some_and(|reply| reply.pointer("/metadata/deletionTimestamp").is_some());
        Ok(if held {
            Deletion::Leaving
        } else {
            Deletion::Gone
        })
    }
}

fn absent_is_none<T>(asked: Result<T, Error>) -> Result<Option<T>, Error> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}
