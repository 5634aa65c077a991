//! Whose the objects of a set are, and what proves it.
//!
//! A set belongs to a name or to a parent. A *name* is written on every object, and an inventory
//! remembers what may carry it: the objects outlive everything but their set. A *parent* is itself
//! an object of the cluster (a custom resource whose operator made the others): each of them
//! carries a controller reference with the parent's uid, so that the cluster cleans up after it,
//! and what carries the parent's label is all that exists: no inventory is needed.

use std::fmt::{self, Display};

use kube::Resource;
use serde_json::{Value, json};

use crate::live::Live;

/// The name of an owner: fit for a label, so that the server can select by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(String);

/// A name that no label can carry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot name an owner: 1 to 63 letters, digits, '-', '_' or '.', letters or digits at both ends"
)]
pub struct BadOwner(String);

impl Owner {
    /// The owner called `name`.
    ///
    /// # Errors
    /// When no label can carry the name.
    pub fn new(name: impl Into<String>) -> Result<Self, BadOwner> {
        let name = name.into();
        let plain = |byte: u8| byte.is_ascii_alphanumeric();
        let inner = |byte: u8| plain(byte) || matches!(byte, b'-' | b'_' | b'.');
        let ends = [name.bytes().next(), name.bytes().last()];
        let fits = name.len() <= 63
            && name.bytes().all(inner)
            && ends.into_iter().all(|end| end.is_some_and(plain));
        if fits {
            Ok(Self(name))
        } else {
            Err(BadOwner(name))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An object of the cluster that a set belongs to. One that was deleted and made anew has another
/// uid, and is another parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    api_version: String,
    kind: String,
    namespace: Option<String>,
    name: String,
    uid: Owner,
}

impl Parent {
    /// `object` as a parent; `None` unless the server has given it a name and a uid.
    pub fn of<R: Resource<DynamicType = ()>>(object: &R) -> Option<Self> {
        Self::of_dynamic(object, &())
    }

    /// The same for an object whose kind is known only at run time.
    pub fn of_dynamic<R: Resource>(object: &R, kind: &R::DynamicType) -> Option<Self> {
        let metadata = object.meta();
        Some(Self {
            api_version: R::api_version(kind).into_owned(),
            kind: R::kind(kind).into_owned(),
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone()?,
            uid: Owner::new(metadata.uid.clone()?).ok()?,
        })
    }

    /// What tells it from all others; the value of the label on its children.
    pub fn uid(&self) -> &str {
        self.uid.as_str()
    }

    /// Where its children live, unless it is a parent of the whole cluster.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    pub(crate) fn reference(&self) -> Value {
        json!({
            "apiVersion": self.api_version, "kind": self.kind, "name": self.name,
            "uid": self.uid(), "controller": true, "blockOwnerDeletion": true,
        })
    }
}

impl Display for Parent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// Whose the objects of a set are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whose {
    Named(Owner),
    Child(Parent),
}

/// Whose an object is, to one set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    Ours,
    Of(String),
    Nobodys,
}

impl Whose {
    /// The value of the label and of the annotation on the objects.
    pub(crate) fn mark(&self) -> &Owner {
        match self {
            Self::Named(owner) => owner,
            Self::Child(parent) => &parent.uid,
        }
    }

    pub(crate) fn parent(&self) -> Option<&Parent> {
        match self {
            Self::Named(_) => None,
            Self::Child(parent) => Some(parent),
        }
    }

    /// Whose `live` is. Labels prove nothing: controllers copy them to what they make.
    pub(crate) fn claim(&self, live: &Live) -> Claim {
        let marked = live.owner.as_deref();
        match (self, &live.controller) {
            (Self::Named(owner), _) => match marked {
                Some(marked) if marked == owner.as_str() => Claim::Ours,
                Some(marked) => Claim::Of(marked.to_owned()),
                None => Claim::Nobodys,
            },
            (Self::Child(parent), Some(by)) if *by.uid == *parent.uid() => Claim::Ours,
            (Self::Child(_), Some(by)) => Claim::Of(by.name.to_string()),
            // What outlives its parent has no reference to it, or the cluster would clean it up.
            (Self::Child(parent), None) if live.kept && marked == Some(parent.uid()) => Claim::Ours,
            (Self::Child(_), None) => Claim::Nobodys,
        }
    }

    /// Whether `live` belongs to yet another object, which its deletion would rob.
    pub(crate) fn is_shared(&self, live: &Live) -> bool {
        match self {
            Self::Named(_) => live.shared || live.controller.is_some(),
            Self::Child(_) => live.shared,
        }
    }
}

impl Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(owner) => owner.fmt(f),
            Self::Child(parent) => parent.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_fit_into_labels() {
        assert!(Owner::new("3f2a-b.c_d").is_ok());
        for bad in ["", "-a", "a/b", &"x".repeat(64)] {
            assert!(Owner::new(bad).is_err(), "{bad}");
        }
    }
}
