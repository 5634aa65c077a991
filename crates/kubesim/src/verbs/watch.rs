//! Following what happens to objects.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::Call;
use crate::faults::Freshness;
use crate::registry::{ResourceType, in_version};
use crate::reply::Reply;
use crate::request::{Form, WatchOptions};
use crate::selectors::Selectors;
use crate::status::ApiError;
use crate::store::Key;
use crate::tables::Printer;
use crate::watch::{self, Lens, Start, Terms};

impl Call<'_> {
    pub(super) fn watch(&self) -> Result<Reply, ApiError> {
        let options = WatchOptions::read(&self.request.query, &self.resource.field_labels)?;
        let terms = Terms {
            start: self.start(&options),
            bookmarks: options.bookmarks,
            timeout: options
                .timeout_seconds
                .filter(|n| *n > 0)
                .map(Duration::from_secs),
        };
        let lens = Selection {
            namespace: self.path.namespace.clone(),
            name: self.path.name.clone(),
            selectors: options.selectors,
            resource: self.resource.clone(),
            form: self.accept.form,
            table: self
                .printer
                .clone()
                .map(|printer| (printer, AtomicBool::new(true))),
        };
        let body = watch::watch(self.sight, &self.resource.stored, terms, Arc::new(lens));
        Ok(Reply::stream(body))
    }

    fn start(&self, options: &WatchOptions) -> Start {
        match (
            options.initial_events,
            options.revision.filter(|revision| *revision > 0),
        ) {
            (Some(true), _) => Start::StateWithEnd,
            (_, Some(revision)) => Start::After(revision),
            (Some(false), None) => Start::After(self.sight.revision(Freshness::Cached)),
            (None, None) => Start::State,
        }
    }
}

/// What one watcher selected, and how it wants to see it.
struct Selection {
    namespace: Option<String>,
    name: Option<String>,
    selectors: Selectors,
    resource: Arc<ResourceType>,
    form: Form,
    /// How tables are written, and whether the next one is the first.
    table: Option<(Printer, AtomicBool)>,
}

impl Lens for Selection {
    fn selects(&self, key: &Key, object: &Value) -> bool {
        let named = self.name.as_ref().is_none_or(|name| key.name() == name);
        named && key.is_in(self.namespace.as_deref()) && self.selectors.matches(object)
    }

    fn show<'a>(&self, object: &'a Value) -> Cow<'a, Value> {
        if let Some((printer, first)) = &self.table {
            let heads = first.swap(false, Ordering::Relaxed);
            return Cow::Owned(printer.single(&self.resource, object, heads));
        }
        match self.form {
            Form::Metadata | Form::MetadataList => {
                let (api_version, kind) = self.kind();
                let metadata = &object["metadata"];
                Cow::Owned(json!({"kind": kind, "apiVersion": api_version, "metadata": metadata}))
            }
            Form::Object | Form::Table(_) | Form::AggregatedDiscovery => {
                in_version(object, &self.resource)
            }
        }
    }

    fn show_bookmark(&self, bookmark: Value) -> Value {
        match &self.table {
            Some((printer, first)) => {
                let heads = first.swap(false, Ordering::Relaxed);
                printer.bookmark(&self.resource, &bookmark, heads)
            }
            None => bookmark,
        }
    }

    fn kind(&self) -> (&str, &str) {
        match self.form {
            Form::Metadata | Form::MetadataList => ("meta.k8s.io/v1", "PartialObjectMetadata"),
            Form::Object | Form::Table(_) | Form::AggregatedDiscovery => {
                (&self.resource.api_version, &self.resource.kind)
            }
        }
    }
}
