//! What objects and resources are called.

use std::fmt::{self, Display};

use kube::Resource;

/// The name of an object among those of its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Its namespace, if it has one.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl Key {
    /// An object in a namespace.
    pub fn namespaced(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: Some(namespace.into()),
            name: name.into(),
        }
    }

    /// An object of the whole cluster.
    pub fn cluster_wide(name: impl Into<String>) -> Self {
        Self {
            namespace: None,
            name: name.into(),
        }
    }

    /// What `object` is called.
    pub fn of<T: Resource>(object: &T) -> Self {
        let meta = object.meta();
        Self {
            namespace: meta.namespace.clone(),
            name: meta.name.clone().unwrap_or_default(),
        }
    }

    /// The same name beside this object: in its namespace.
    pub fn beside(&self, name: impl Into<String>) -> Self {
        Self {
            namespace: self.namespace.clone(),
            name: name.into(),
        }
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A resource as the paths of requests name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId {
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural name, in small letters.
    pub plural: String,
}

impl ResourceId {
    /// The resource that objects of type `T` are of.
    pub fn of<T: Resource<DynamicType = ()>>() -> Self {
        Self {
            group: T::group(&()).into_owned(),
            plural: T::plural(&()).into_owned(),
        }
    }
}

impl Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_str() {
            "" => f.write_str(&self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

/// A resource version as a number: such numbers grow with every write to a resource. Servers that
/// use anything else are taken at their word and never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// Reads a resource version.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    /// The revision of `object`.
    pub fn of<T: Resource>(object: &T) -> Option<Self> {
        Self::parse(object.meta().resource_version.as_deref()?)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}
