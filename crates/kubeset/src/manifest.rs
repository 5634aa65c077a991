//! What somebody wrote, without what only the server may set.
//!
//! ```text
//! text ──evenkeel_manifest──▶ documents ──strip──▶ Manifests + warnings
//! ```

use std::fmt::{self, Display};
use std::sync::Arc;

use evenkeel_manifest::{Document, Identity, Limits, ManifestError, Place};
use serde_json::Value;

use crate::fields::hash;
use crate::key::GroupKind;

/// An object as somebody wrote it, without what only the server may set.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Where it stands in the text.
    pub place: Place,
    /// What it is called.
    pub id: Identity,
    object: Arc<Value>,
    /// The hash of all that it says, so that no pass has to read it again.
    content: u64,
}

impl Manifest {
    /// The whole object.
    pub fn object(&self) -> &Arc<Value> {
        &self.object
    }

    pub(crate) fn content(&self) -> u64 {
        self.content
    }

    /// Its kind, whatever the version that it is written in.
    pub fn kind(&self) -> GroupKind {
        GroupKind::new(&self.id.group, &self.id.kind)
    }
}

impl From<Document> for Manifest {
    fn from(document: Document) -> Self {
        let object = Value::Object(document.object);
        Self {
            place: document.place,
            id: document.id,
            content: hash(&object.to_string()),
            object: Arc::new(object),
        }
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

/// A set of objects as somebody wrote it; each object once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Manifests {
    /// The objects in the order in which they were written.
    pub objects: Vec<Manifest>,
    /// What was written and does not count.
    pub warnings: Vec<Warning>,
}

impl Manifests {
    /// Reads multi-document YAML or JSON; lists of objects count as their items. A text without
    /// objects is a set without objects. How long a text may be is for those to say who took it in.
    ///
    /// # Errors
    /// At the first thing that is wrong, with its place.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let documents = match evenkeel_manifest::parse(text, Limits::NONE) {
            Err(ManifestError::Empty) => Vec::new(),
            read => read?,
        };
        Ok(Self::read(documents))
    }

    /// The same of objects that a program made; a place counts them from one.
    ///
    /// # Errors
    /// When one of them names no object, or two the same.
    pub fn of(objects: impl IntoIterator<Item = Value>) -> Result<Self, ManifestError> {
        Ok(Self::read(evenkeel_manifest::objects(objects)?))
    }

    fn read(documents: Vec<Document>) -> Self {
        let mut read = Self::default();
        for mut document in documents {
            read.warnings.extend(strip(&mut document));
            read.objects.push(document.into());
        }
        read
    }
}

/// Takes out what only the server may set.
fn strip(document: &mut Document) -> Option<Warning> {
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
    let mut taken = Vec::new();
    let metadata = document.object.get_mut("metadata");
    if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
        let there = MANAGED
            .iter()
            .filter(|field| metadata.remove(**field).is_some());
        taken.extend(there.map(|field| format!("metadata.{field}")));
    }
    if document.object.remove("status").is_some() {
        taken.push("status".to_owned());
    }
    let (id, fields) = (&document.id, taken.join(", "));
    (!taken.is_empty()).then(|| Warning {
        place: document.place,
        message: format!("{id}: ignored {fields}, which the server sets"),
    })
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
            .map(|manifest| manifest.id.name)
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
            "document 1, line 1: v1 ConfigMap a: ignored metadata.uid, metadata.resourceVersion, \
             status, which the server sets"
        );
        assert_eq!(
            **read.objects[0].object(),
            serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
        );
    }

    #[test]
    fn errors_name_document_line_kind_and_name() {
        let second = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n";
        assert_eq!(
            error(&format!("{second}kind: Secret\nmetadata: {{name: s}}\n")),
            "document 2, line 5: `apiVersion` of Secret s must be a text that is not empty"
        );
        assert_eq!(
            error(&format!("{second}apiVersion: v1\nmetadata: {{name: s}}\n")),
            "document 2, line 5: `kind` of the object s must be a text that is not empty"
        );
        assert_eq!(
            error(&format!("{second}apiVersion: v1\nkind: Secret\n")),
            "document 2, line 5: `metadata.name` of Secret must be a text that is not empty"
        );
        assert_eq!(
            error("apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n"),
            "document 1, line 1: Pod has `metadata.generateName`, but needs a name that stays the same"
        );
        assert_eq!(
            error("- 1\n"),
            "document 1, line 1: a mapping is expected, not a list"
        );
    }

    #[test]
    fn a_second_version_of_one_object_is_a_duplicate() {
        let text = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a, namespace: n}\n---\n\
                    apiVersion: example.com/v2\nkind: Foo\nmetadata: {name: a, namespace: n}\n";
        assert_eq!(
            error(text),
            "document 2, line 5: example.com/v2 Foo n/a is already described on line 1, document 1"
        );
    }
}
