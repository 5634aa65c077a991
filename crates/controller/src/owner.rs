//! Who controls an object.

use kube::Resource;
use kube::api::ObjectMeta;

use crate::key::Key;

/// An owner by key and uid: one that was deleted and made anew is another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OwnerKey {
    pub(crate) key: Key,
    pub(crate) uid: String,
}

/// The owner of kind `K` that controls an object. Owners that do not control it do not count.
pub(crate) fn controlling_owner<K: Resource<DynamicType = ()>>(
    meta: &ObjectMeta,
) -> Option<OwnerKey> {
    let owners = meta.owner_references.as_deref()?;
    let owner = owners.iter().find(|owner| owner.controller == Some(true))?;
    let (group, _) = owner.api_version.split_once('/').unwrap_or_default();
    let is_of_kind = owner.kind == K::kind(&()) && group == K::group(&());
    let owned = || OwnerKey {
        key: Key {
            namespace: meta.namespace.clone(),
            name: owner.name.clone(),
        },
        uid: owner.uid.clone(),
    };
    is_of_kind.then(owned)
}
