//! Which object: the identity that desired state, inventory and cluster share.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// A kind of objects, whatever the version it is written in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
}

impl GroupKind {
    /// The kind `kind` of `group`.
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }

    /// Whether it is this kind.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }

    /// Whether its objects are namespaces.
    pub fn is_namespace(&self) -> bool {
        self.is("", "Namespace")
    }

    /// Whether its objects define other kinds.
    pub fn is_definition(&self) -> bool {
        self.is("apiextensions.k8s.io", "CustomResourceDefinition")
    }
}

impl Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_str() {
            "" => f.write_str(&self.kind),
            group => write!(f, "{}.{group}", self.kind),
        }
    }
}

/// One object of a cluster. The version that it is written in is no part of its identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// Its kind.
    #[serde(flatten)]
    pub kind: GroupKind,
    /// Its namespace, where its kind has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl ObjectKey {
    /// The object called `name` of a kind, in a namespace if that has any.
    pub fn new(kind: GroupKind, namespace: Option<&str>, name: impl Into<String>) -> Self {
        Self {
            kind,
            namespace: namespace.map(str::to_owned),
            name: name.into(),
        }
    }
}

impl Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}
