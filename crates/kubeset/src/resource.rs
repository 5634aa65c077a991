//! A kind as the server serves it, and the paths of its objects.

use crate::key::{GroupKind, ObjectKey};

/// A kind in one version, as the server serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    /// The kind.
    pub(crate) kind: GroupKind,
    /// The version.
    pub(crate) version: String,
    /// The word in paths: `deployments`.
    pub(crate) plural: String,
    /// Whether its objects live in namespaces.
    pub(crate) namespaced: bool,
    /// Whether its objects can be listed, watched, applied and deleted.
    pub(crate) manageable: bool,
}

impl Resource {
    /// The path of its objects in a namespace, or of all its objects.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = match self.kind.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        match namespace {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }

    /// The key of the object called `name`.
    pub(crate) fn key(&self, namespace: Option<&str>, name: &str) -> ObjectKey {
        ObjectKey::new(self.kind.clone(), namespace, name)
    }
}
