//! Names of things in the store.

use std::fmt;
use std::sync::Arc;

/// A stored resource. All versions of a resource share one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// The plural name, such as `configmaps`.
    pub plural: Arc<str>,
}

impl ResourceId {
    /// Names the resource `plural` of `group`.
    pub fn new(group: &str, plural: &str) -> Self {
        Self {
            group: group.into(),
            plural: plural.into(),
        }
    }
}

impl fmt::Display for ResourceId {
    /// `deployments.apps`, or `configmaps` in the core group.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => f.write_str(&self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

/// Where an object is among those of its resource: `namespace/name`, or `name` when it lives
/// outside namespaces. Keys sort as the real server's storage sorts them, which lists show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// An object in a namespace.
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        Self(format!("{namespace}/{name}").into())
    }

    /// An object outside namespaces.
    pub fn cluster(name: &str) -> Self {
        Self(name.into())
    }

    /// An object in `namespace` if there is one.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        namespace.map_or_else(
            || Self::cluster(name),
            |namespace| Self::namespaced(namespace, name),
        )
    }

    /// The namespace, if the object is in one.
    pub fn namespace(&self) -> Option<&str> {
        self.0.split_once('/').map(|(namespace, _)| namespace)
    }

    /// The object's own name.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// Whether the object is in `namespace`; every object is when none is asked for.
    pub fn is_in(&self, namespace: Option<&str>) -> bool {
        namespace.is_none_or(|namespace| self.namespace() == Some(namespace))
    }

    /// The whole key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Key {
    /// Takes the text of [`Key::as_str`] back.
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_its_parts_back() {
        let key = Key::namespaced("shop", "web");
        assert_eq!((key.namespace(), key.name()), (Some("shop"), "web"));
        assert_eq!(Key::from(key.as_str()), key);
        assert_eq!(Key::cluster("n1").namespace(), None);
    }

    #[test]
    fn a_namespace_whose_name_goes_on_sorts_first_as_in_the_real_storage() {
        assert!(Key::namespaced("a-b", "x") < Key::namespaced("a", "x"));
    }
}
