//! Objects of a cluster, as people speak of them.

use evenkeel_manifest::Identity;
use evenkeel_model::ObjectKey;

/// `Deployment shop/web`.
pub(crate) fn shown(object: &ObjectKey) -> String {
    match &object.namespace {
        Some(namespace) => format!("{} {namespace}/{}", object.kind, object.name),
        None => format!("{} {}", object.kind, object.name),
    }
}

/// `Deployment/shop/web`, which is one word.
pub(crate) fn path(object: &ObjectKey) -> String {
    shown(object).replace(' ', "/")
}

/// What a manifest names.
pub(crate) fn key(id: &Identity) -> ObjectKey {
    ObjectKey {
        group: id.group.clone(),
        kind: id.kind.clone(),
        namespace: id.namespace.clone(),
        name: id.name.clone(),
    }
}
