//! What can be watched, and how to say which of it.

use std::fmt::Debug;
use std::sync::Arc;

use kube::Resource;
use kube::core::PartialObjectMeta;
use serde::de::DeserializeOwned;

use crate::predicate::{self, Predicate};

/// Whatever can be watched: every kind that is known at compile time, whole or as [`Metadata`].
pub trait Watched:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

impl<T> Watched for T where
    T: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

/// The metadata of an object and no more: what to watch when the rest does not matter.
pub type Metadata<K> = PartialObjectMeta<K>;

/// Which objects of a kind to watch, and which of their changes matter.
pub struct Watch<T> {
    pub(crate) labels: Option<String>,
    pub(crate) when: Option<Predicate<T>>,
}

impl<T: Watched> Watch<T> {
    /// All of them, every change.
    pub fn all() -> Self {
        Self {
            labels: None,
            when: None,
        }
    }

    /// Only those with these labels.
    #[must_use]
    pub fn labels(self, selector: impl Into<String>) -> Self {
        Self {
            labels: Some(selector.into()),
            ..self
        }
    }

    /// Only changes for which `matters` says so; it is given the object before and after, one of
    /// which is missing when it was created or deleted.
    #[must_use]
    pub fn when(
        self,
        matters: impl Fn(Option<&T>, Option<&T>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            when: Some(Arc::new(matters)),
            ..self
        }
    }

    pub(crate) fn predicate(&self) -> Predicate<T> {
        let any: Predicate<T> = Arc::new(predicate::any_change);
        self.when.clone().unwrap_or(any)
    }
}

impl<T> Debug for Watch<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch")
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}
