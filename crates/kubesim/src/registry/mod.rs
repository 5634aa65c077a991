//! Which resources exist: the built-in table of the process and the custom resources of one
//! cluster.
//!
//! ```text
//! (group, version, plural) ──▶ ResourceType ──▶ where stored, schema, verbs, subresources
//! ```
//!
//! Read [`resource_type`] first; [`builtin`] is the table; [`custom`] what definitions
//! define; [`conversion`] turns a stored object into the version that was asked for.

mod builtin;
mod conversion;
mod custom;
mod resource_type;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::crd::Definition;
use crate::store::ResourceId;

pub(crate) use conversion::{in_version, to_stored};
pub use resource_type::Verb;
pub(crate) use resource_type::{ResourceType, Subresource, api_version};

/// The resources of one cluster.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// The versions of every custom resource, by the name of its definition.
    custom: RwLock<BTreeMap<String, Vec<Arc<ResourceType>>>>,
}

impl Registry {
    /// The resource at a path.
    pub(crate) fn find(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<Arc<ResourceType>> {
        let built_in = index().get(plural).into_iter().flatten();
        let found = built_in
            .clone()
            .find(|known| &*known.id.group == group && &*known.version == version);
        found.cloned().or_else(|| {
            let versions = self.definition(&format!("{plural}.{group}"))?;
            versions
                .into_iter()
                .find(|known| &*known.version == version)
        })
    }

    /// The resource whose objects are of a kind.
    pub(crate) fn find_kind(
        &self,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Option<Arc<ResourceType>> {
        let fits = |known: &&Arc<ResourceType>| {
            &*known.kind == kind && &*known.id.group == group && &*known.version == version
        };
        let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
        builtin::all()
            .iter()
            .chain(custom.values().flatten())
            .find(fits)
            .cloned()
    }

    /// A version in which stored objects can be worked on.
    pub(crate) fn find_stored(&self, id: &ResourceId) -> Option<Arc<ResourceType>> {
        let built_in = index().get(&*id.plural).into_iter().flatten();
        let found = built_in.clone().find(|known| known.id == *id);
        found
            .cloned()
            .or_else(|| self.definition(&id.to_string())?.into_iter().next())
    }

    /// Whether the server itself serves this group; those of custom resources have other words
    /// for what they do not have.
    pub(crate) fn is_built_in(group: &str) -> bool {
        builtin::all().iter().any(|known| &*known.id.group == group)
    }

    /// Every resource in every version, built-in ones first, in the order of discovery.
    pub(crate) fn all(&self) -> Vec<Arc<ResourceType>> {
        let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
        builtin::all()
            .iter()
            .chain(custom.values().flatten())
            .cloned()
            .collect()
    }

    /// Serves what a definition defines, instead of what it defined before.
    pub(crate) fn define(&self, definition: Definition) {
        let name = format!("{}.{}", definition.names.plural, definition.group);
        let definition = Arc::new(definition);
        let served = definition.versions.iter().filter(|version| version.served);
        let versions = served.map(|version| Arc::new(ResourceType::custom(&definition, version)));
        let mut custom = self.custom.write().unwrap_or_else(PoisonError::into_inner);
        custom.insert(name, versions.collect());
    }

    /// No longer serves what the definition of this name defined.
    pub(crate) fn forget(&self, name: &str) {
        self.custom
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
    }

    fn definition(&self, name: &str) -> Option<Vec<Arc<ResourceType>>> {
        self.custom
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
    }
}

/// The built-in resources by plural name.
fn index() -> &'static HashMap<&'static str, Vec<Arc<ResourceType>>> {
    static INDEX: LazyLock<HashMap<&'static str, Vec<Arc<ResourceType>>>> = LazyLock::new(|| {
        let mut index: HashMap<_, Vec<_>> = HashMap::new();
        for known in builtin::all() {
            index
                .entry(&*known.id.plural)
                .or_default()
                .push(known.clone());
        }
        index
    });
    &INDEX
}
