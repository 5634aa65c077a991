//! What somebody wrote: objects as text, read strictly.
//!
//! ```text
//! text ──yaml──▶ documents ──flatten lists──▶ objects ──check, strip──▶ Manifests + warnings
//! ```

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde_json::{Map, Value};

use crate::key::GroupKind;
use crate::yaml::{self, SyntaxError};

/// An object as somebody wrote it, without what only the server may set.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Where it stands in the text.
    pub place: Place,
    /// Its kind.
    pub kind: GroupKind,
    /// The version that it is written in.
    pub version: String,
    /// Its namespace, if it names one.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// The whole object.
    pub object: Value,
}

impl Manifest {
    /// `apiVersion` as it was written.
    pub fn api_version(&self) -> String {
        match self.kind.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }
}

/// Where an object stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which document, counted from 1.
    pub document: usize,
    /// The line on which the document begins.
    pub line: usize,
    /// Which item of the list, counted from 1, if the document is a list.
    pub item: Option<usize>,
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "document {}, line {}", self.document, self.line)?;
        self.item.map_or(Ok(()), |item| write!(f, ", item {item}"))
    }
}

/// Something that was written and does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What, for people to read.
    pub message: String,
}

impl Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Why a text is no set of objects.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It is not even YAML.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// A document is no object.
    #[error("{place}: expected an object with apiVersion, kind and metadata")]
    NotAnObject {
        /// Where.
        place: Place,
    },
    /// A field is missing, empty or not a text.
    #[error("{place}: {what} has no {field}")]
    Missing {
        /// Where.
        place: Place,
        /// The kind and name, as far as they are there.
        what: String,
        /// The field.
        field: &'static str,
    },
    /// A name that the server is to choose makes another object each time.
    #[error("{place}: {what} has generateName; objects of a set need a fixed metadata.name")]
    GenerateName {
        /// Where.
        place: Place,
        /// The kind.
        what: String,
    },
    /// `apiVersion` is neither `version` nor `group/version`.
    #[error("{place}: {what} has the unreadable apiVersion {api_version:?}")]
    ApiVersion {
        /// Where.
        place: Place,
        /// The kind and name.
        what: String,
        /// What it says.
        api_version: String,
    },
    /// The same object was written twice.
    #[error("{place}: {what} was written before, in {before}")]
    Duplicate {
        /// Where.
        place: Place,
        /// The kind and name.
        what: String,
        /// Where it was written first.
        before: Place,
    },
}

/// A set of objects as somebody wrote it; each object once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Manifests {
    /// The objects in the order in which they were written.
    pub objects: Vec<Manifest>,
    /// What was written and does not count.
    pub warnings: Vec<Warning>,
}

impl Manifests {
    /// Reads multi-document YAML or JSON; lists of objects count as their items.
    ///
    /// # Errors
    /// At the first thing that is wrong, with its place.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let mut reader = Reader::default();
        for document in yaml::documents(text) {
            let document = document?;
            let place = Place {
                document: document.number,
                line: document.line,
                item: None,
            };
            reader.add(place, document.value)?;
        }
        Ok(reader.read)
    }

    /// Takes objects that were made, not written.
    ///
    /// # Errors
    /// When one of them is no object or comes twice; places count them as documents.
    pub fn of(objects: impl IntoIterator<Item = Value>) -> Result<Self, ManifestError> {
        let mut reader = Reader::default();
        for (at, object) in objects.into_iter().enumerate() {
            let place = Place {
                document: at + 1,
                line: 1,
                item: None,
            };
            reader.add(place, object)?;
        }
        Ok(reader.read)
    }
}

/// What was read so far.
#[derive(Default)]
struct Reader {
    read: Manifests,
    places: BTreeMap<(GroupKind, Option<String>, String), Place>,
}

impl Reader {
    fn add(&mut self, place: Place, value: Value) -> Result<(), ManifestError> {
        let Value::Object(mut object) = value else {
            return Err(ManifestError::NotAnObject { place });
        };
        if !is_list(&object) {
            return self.object(place, object);
        }
        let items = object.remove("items").unwrap_or_default();
        let Value::Array(items) = items else {
            return Ok(());
        };
        for (at, item) in items.into_iter().enumerate() {
            let item_place = Place {
                item: Some(at + 1),
                ..place
            };
            self.add(item_place, item)?;
        }
        Ok(())
    }

    fn object(&mut self, place: Place, object: Map<String, Value>) -> Result<(), ManifestError> {
        let mut manifest = identify(place, object)?;
        self.strip(&mut manifest);
        let identity = (
            manifest.kind.clone(),
            manifest.namespace.clone(),
            manifest.name.clone(),
        );
        if let Some(before) = self.places.insert(identity, place) {
            let what = named(&manifest.object);
            return Err(ManifestError::Duplicate {
                place,
                what,
                before,
            });
        }
        self.read.objects.push(manifest);
        Ok(())
    }

    /// Takes out what only the server may set.
    fn strip(&mut self, manifest: &mut Manifest) {
        const MANAGED: [&str; 8] = [
            "uid",
            "resourceVersion",
            "generation",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
            "managedFields",
        ];
        let what = named(&manifest.object);
        let mut taken = Vec::new();
        let metadata = manifest.object.get_mut("metadata");
        if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
            let there = MANAGED
                .iter()
                .filter(|field| metadata.remove(**field).is_some());
            taken.extend(there.map(|field| format!("metadata.{field}")));
        }
        let object = manifest.object.as_object_mut();
        if object.is_some_and(|object| object.remove("status").is_some()) {
            taken.push("status".to_owned());
        }
        if !taken.is_empty() {
            let message = format!(
                "{what}: ignored {}, which the server sets",
                taken.join(", ")
            );
            let place = manifest.place;
            self.read.warnings.push(Warning { place, message });
        }
    }
}

/// Whether it is a list of objects: `v1 List` or `SomethingList`, always with items.
fn is_list(object: &Map<String, Value>) -> bool {
    let kind = object.get("kind").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.ends_with("List")) && object.contains_key("items")
}

/// Kind and name as far as they are there.
fn named(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or("an object without a kind");
    match (text("/metadata/namespace"), text("/metadata/name")) {
        (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
        (None, Some(name)) => format!("{kind} {name}"),
        (_, None) => kind.to_owned(),
    }
}

fn identify(place: Place, object: Map<String, Value>) -> Result<Manifest, ManifestError> {
    let object = Value::Object(object);
    let filled = |pointer: &str| {
        let text = object.pointer(pointer).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let required = |pointer: &str, field| {
        filled(pointer).ok_or_else(|| ManifestError::Missing {
            place,
            what: named(&object),
            field,
        })
    };
    let api_version = required("/apiVersion", "apiVersion")?;
    let kind = required("/kind", "kind")?;
    if filled("/metadata/generateName").is_some() {
        return Err(ManifestError::GenerateName { place, what: kind });
    }
    let name = required("/metadata/name", "metadata.name")?;
    let (group, version) = split(&api_version).ok_or_else(|| ManifestError::ApiVersion {
        place,
        what: named(&object),
        api_version: api_version.clone(),
    })?;
    Ok(Manifest {
        place,
        kind: GroupKind::new(group, kind),
        version: version.to_owned(),
        namespace: filled("/metadata/namespace"),
        name,
        object,
    })
}

fn split(api_version: &str) -> Option<(&str, &str)> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let whole = !version.is_empty() && !version.contains('/') && !api_version.starts_with('/');
    whole.then_some((group, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Manifests::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn lists_count_as_their_items() {
        let text = "apiVersion: v1\nkind: List\nitems:\n\
                    - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n\
                    - apiVersion: v1\n  kind: ConfigMapList\n  items:\n  \
                    - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n";
        let names: Vec<_> = Manifests::parse(text)
            .unwrap()
            .objects
            .into_iter()
            .map(|manifest| manifest.name)
            .collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn an_empty_text_is_an_empty_set() {
        assert_eq!(
            Manifests::parse("---\n# nothing\n").unwrap(),
            Manifests::default()
        );
    }

    #[test]
    fn what_the_server_sets_is_ignored_with_a_warning() {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  uid: x\n  \
                    resourceVersion: '1'\nstatus: {}\n";
        let read = Manifests::parse(text).unwrap();
        assert_eq!(
            read.warnings[0].to_string(),
            "document 1, line 1: ConfigMap a: ignored metadata.uid, metadata.resourceVersion, \
             status, which the server sets"
        );
        assert_eq!(
            read.objects[0].object,
            serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
        );
    }

    #[test]
    fn errors_name_document_line_kind_and_name() {
        let second = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n";
        assert_eq!(
            error(&format!("{second}kind: Secret\nmetadata: {{name: s}}\n")),
            "document 2, line 5: Secret s has no apiVersion"
        );
        assert_eq!(
            error(&format!("{second}apiVersion: v1\nmetadata: {{name: s}}\n")),
            "document 2, line 5: an object without a kind s has no kind"
        );
        assert_eq!(
            error(&format!("{second}apiVersion: v1\nkind: Secret\n")),
            "document 2, line 5: Secret has no metadata.name"
        );
        assert_eq!(
            error("apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n"),
            "document 1, line 1: Pod has generateName; objects of a set need a fixed metadata.name"
        );
        assert_eq!(
            error("- 1\n"),
            "document 1, line 1: expected an object with apiVersion, kind and metadata"
        );
    }

    #[test]
    fn a_second_version_of_one_object_is_a_duplicate() {
        let text = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a, namespace: n}\n---\n\
                    apiVersion: example.com/v2\nkind: Foo\nmetadata: {name: a, namespace: n}\n";
        assert_eq!(
            error(text),
            "document 2, line 5: Foo n/a was written before, in document 1, line 1"
        );
    }

    #[test]
    fn api_versions_have_one_or_two_parts() {
        assert_eq!(split("v1"), Some(("", "v1")));
        assert_eq!(split("apps/v1"), Some(("apps", "v1")));
        assert_eq!(split("a/b/c"), None);
        assert_eq!(split("/v1"), None);
        assert_eq!(split("apps/"), None);
    }
}
