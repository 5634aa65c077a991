//! What a namespace has to say to a write.

use serde_json::Value;

use super::namespaces;
use crate::cluster::Cluster;
use crate::meta;
use crate::registry::ResourceType;
use crate::status::{ApiError, Cause};

/// Namespaces that nobody may delete.
const IMMORTAL: &[&str] = &["default", "kube-system", "kube-public"];

/// A new object needs a namespace that is there to stay.
pub(crate) fn namespace_takes(
    cluster: &Cluster,
    resource: &ResourceType,
    object: &Value,
) -> Result<(), ApiError> {
    if !resource.namespaced {
        return Ok(());
    }
    let name = meta::namespace(object);
    let Some(namespace) = namespaces::find(cluster, name) else {
        return Err(ApiError::not_found(&namespaces::id(), name));
    };
    if !meta::is_deleting(&namespace) {
        return Ok(());
    }
    let why =
        format!("unable to create new content in namespace {name} because it is being terminated");
    let mut error = ApiError::forbidden(&resource.id, meta::name(object), &why);
    if let Some(details) = &mut error.details {
        details.causes.push(Cause {
            reason: "NamespaceTerminating",
            message: format!("namespace {name} is being terminated"),
            field: "metadata.namespace".into(),
        });
    }
    Err(error)
}

/// Some objects cannot be deleted at all.
pub(crate) fn deletion(resource: &ResourceType, object: &Value) -> Result<(), ApiError> {
    let name = meta::name(object);
    if resource.is("", "namespaces") && IMMORTAL.contains(&name) {
        return Err(ApiError::forbidden(
            &resource.id,
            name,
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}
