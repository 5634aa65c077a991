//! How stored objects are shown: in the version that was asked for, whole or metadata only,
//! without copying them where nothing differs.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

use crate::registry::{ResourceType, in_version};
use crate::reply::Reply;
use crate::request::Form;

use super::Call;

impl Call<'_> {
    /// The answer that is one object.
    pub(super) fn shown(&self, code: u16, object: &Value) -> Reply {
        match &self.printer {
            Some(printer) => Reply::with_code(code, &printer.single(&self.resource, object, true)),
            None => {
                let shown = Shown::alone(object, &self.resource, self.accept.form);
                Reply::with_code(code, &shown)
            }
        }
    }

    /// The answer that is a list.
    pub(super) fn shown_list<'a>(
        &'a self,
        metadata: ListMetadata,
        objects: impl Iterator<Item = &'a Value>,
    ) -> Reply {
        match &self.printer {
            Some(printer) => {
                let metadata = serde_json::to_value(metadata).unwrap_or_default();
                Reply::ok(&printer.table(&self.resource, &metadata, objects, true))
            }
            None => {
                let form = self.accept.form;
                Reply::ok(&ShownList::new(&self.resource, form, metadata, objects))
            }
        }
    }
}

/// One object, as a client gets to see it.
#[derive(Debug)]
struct Shown<'a> {
    object: Cow<'a, Value>,
    form: Form,
    /// In lists, built-in objects do not say what they are.
    nameless: bool,
}

impl<'a> Shown<'a> {
    /// An object on its own.
    fn alone(object: &'a Value, resource: &ResourceType, form: Form) -> Self {
        Self {
            object: in_version(object, resource),
            form,
            nameless: false,
        }
    }

    /// An object in a list.
    fn listed(object: &'a Value, resource: &ResourceType, form: Form) -> Self {
        let nameless = form == Form::Object && !resource.is_custom();
        Self {
            object: in_version(object, resource),
            form,
            nameless,
        }
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.form.is_metadata() {
            return partial(&self.object, serializer);
        }
        match (self.nameless, self.object.as_object()) {
            (true, Some(fields)) => {
                let named = |name: &str| matches!(name, "kind" | "apiVersion");
                serializer.collect_map(fields.iter().filter(|(name, _)| !named(name)))
            }
            _ => self.object.serialize(serializer),
        }
    }
}

fn partial<S: Serializer>(object: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(3))?;
    map.serialize_entry("kind", "PartialObjectMetadata")?;
    map.serialize_entry("apiVersion", "meta.k8s.io/v1")?;
    map.serialize_entry("metadata", &object["metadata"])?;
    map.end()
}

/// A list, as a client gets to see it.
#[derive(Serialize)]
struct ShownList<'a> {
    kind: &'a str,
    #[serde(rename = "apiVersion")]
    api_version: &'a str,
    metadata: ListMetadata,
    items: Vec<Shown<'a>>,
}

/// The metadata of a list.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListMetadata {
    pub(crate) resource_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) r#continue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining_item_count: Option<usize>,
}

impl<'a> ShownList<'a> {
    fn new(
        resource: &'a ResourceType,
        form: Form,
        metadata: ListMetadata,
        objects: impl Iterator<Item = &'a Value>,
    ) -> Self {
        let (kind, api_version) = match form {
            Form::Metadata | Form::MetadataList => ("PartialObjectMetadataList", "meta.k8s.io/v1"),
            Form::Object | Form::Table(_) | Form::AggregatedDiscovery => {
                (&*resource.list_kind, &*resource.api_version)
            }
        };
        let items = objects
            .map(|object| Shown::listed(object, resource, form))
            .collect();
        Self {
            kind,
            api_version,
            metadata,
            items,
        }
    }
}
