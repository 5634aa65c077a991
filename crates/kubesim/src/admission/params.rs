//! The objects that policies take their parameters from: the policy names the kind, its binding
//! which of them.

use std::sync::Arc;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::meta;
use crate::registry::ResourceType;
use crate::selectors::LabelSelector;
use crate::store::Key;

/// The parameters with which a policy judges `object`, once with each; why it cannot, if the
/// binding asks for what is not there. A policy without parameters judges once, with none.
pub(super) fn of(
    cluster: &Cluster,
    policy: &Value,
    binding: &Value,
    object: &Value,
) -> Result<Vec<Value>, String> {
    let (kind, reference) = (&policy["paramKind"], &binding["paramRef"]);
    if !kind.is_object() || !reference.is_object() {
        return Ok(vec![Value::Null]);
    }
    let resource = resource_of(cluster, kind)?;
    let namespace = namespace_of(&resource, reference, object)?;
    let found = match reference["name"].as_str().filter(|name| !name.is_empty()) {
        Some(name) => named(cluster, &resource, namespace, name),
        None => selected(cluster, &resource, namespace, &reference["selector"]),
    };
    match found.is_empty() && reference["parameterNotFoundAction"] == "Deny" {
        true => {
            Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned())
        }
        false => Ok(found),
    }
}

fn resource_of(cluster: &Cluster, kind: &Value) -> Result<Arc<ResourceType>, String> {
    let text = |field: &str| kind[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion")
        .split_once('/')
        .unwrap_or(("", text("apiVersion")));
    let found = cluster.registry().find_kind(group, version, text("kind"));
    let shown = || {
        let (version, kind) = (text("apiVersion"), text("kind"));
        format!("paramKind kind `&ParamKind{{APIVersion:{version},Kind:{kind},}}` not known")
    };
    found.ok_or_else(shown)
}

/// Where the parameters are: where the binding says, or else where the object is.
fn namespace_of<'a>(
    resource: &ResourceType,
    reference: &'a Value,
    object: &'a Value,
) -> Result<Option<&'a str>, String> {
    let named = reference["namespace"].as_str().filter(|n| !n.is_empty());
    match (resource.namespaced, named, meta::namespace(object)) {
        (false, Some(_), _) => Err(
            "paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned(),
        ),
        (false, None, _) => Ok(None),
        (true, Some(named), _) => Ok(Some(named)),
        (true, None, "") => Err(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                .to_owned(),
        ),
        (true, None, own) => Ok(Some(own)),
    }
}

fn named(
    cluster: &Cluster,
    resource: &ResourceType,
    namespace: Option<&str>,
    name: &str,
) -> Vec<Value> {
    let found = cluster
        .store()
        .get(&resource.stored, &Key::new(namespace, name));
    found.iter().map(|found| Value::clone(found)).collect()
}

fn selected(
    cluster: &Cluster,
    resource: &ResourceType,
    namespace: Option<&str>,
    selector: &Value,
) -> Vec<Value> {
    let (selector, snapshot) = (
        LabelSelector::of(selector),
        cluster.store().snapshot(&resource.stored),
    );
    snapshot
        .in_namespace(namespace)
        .filter(|(_, object)| selector.matches(&object["metadata"]["labels"]))
        .map(|(_, object)| Value::clone(object))
        .collect()
}
