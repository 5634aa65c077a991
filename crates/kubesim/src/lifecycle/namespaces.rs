//! Namespaces: furnished when they come, emptied before they go.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Happening, founding, writing};
use crate::cluster::Cluster;
use crate::meta;
use crate::registry::ResourceType;
use crate::request::{DeleteOptions, Propagation};
use crate::status::ApiError;
use crate::store::{Key, Object, ResourceId};
use crate::verbs::Change;

pub(super) fn id() -> ResourceId {
    ResourceId::new("", "namespaces")
}

pub(super) fn is_namespace(resource: &ResourceId) -> bool {
    &*resource.plural == "namespaces" && resource.group.is_empty()
}

/// The namespace of this name.
pub(super) fn find(cluster: &Cluster, name: &str) -> Option<Object> {
    cluster.store().get(&id(), &Key::cluster(name))
}

/// Marks a namespace as its deletion does.
pub(crate) fn terminate(namespace: &mut Value, now: &str) {
    meta::set(namespace, "deletionTimestamp", now);
    namespace["status"]["phase"] = "Terminating".into();
}

pub(super) fn react(cluster: &Cluster, happening: &Happening) {
    let name = match (&happening.after, happening.key.namespace()) {
        (Some(_), None) if is_namespace(&happening.resource) => happening.key.name(),
        // Something has gone from a namespace: it may now be empty, or miss its furniture.
        (None, Some(namespace)) => namespace,
        _ => return,
    };
    let Some(namespace) = find(cluster, name) else {
        return;
    };
    if !meta::is_deleting(&namespace) {
        if happening.before.is_none() || happening.after.is_none() {
            founding::furnish(cluster, name);
        }
        return;
    }
    if happening.after.is_some() {
        empty(cluster, name);
    }
    finish(cluster, name);
}

/// What is in a namespace, by resource.
type Content = Vec<(Arc<ResourceType>, Vec<Object>)>;

/// Deletes everything in a namespace.
fn empty(cluster: &Cluster, name: &str) {
    let propagation = Some(Propagation::Background);
    let options = DeleteOptions {
        propagation,
        ..DeleteOptions::default()
    };
    for (resource, objects) in content(cluster, name) {
        for object in objects.iter().filter(|object| !meta::is_deleting(object)) {
            // What has gone meanwhile needs no deleting.
            let _ = writing(cluster, &resource, "").delete(&meta::key(object), &options);
        }
    }
}

fn content(cluster: &Cluster, name: &str) -> Content {
    let store = cluster.store();
    let known = store
        .resources()
        .into_iter()
        .filter_map(|id| cluster.registry().find_stored(&id));
    let objects = |resource: &ResourceType| -> Vec<Object> {
        let snapshot = store.snapshot(&resource.stored);
        snapshot
            .in_namespace(Some(name))
            .map(|(_, object)| object.clone())
            .collect()
    };
    known
        .filter(|resource| resource.namespaced)
        .map(|resource| (resource.clone(), objects(&resource)))
        .filter(|(_, objects)| !objects.is_empty())
        .collect()
}

/// Lets an empty namespace go; tells of another one why it stays.
fn finish(cluster: &Cluster, name: &str) {
    let Some(resource) = cluster.registry().find("", "v1", "namespaces") else {
        return;
    };
    let content = content(cluster, name);
    let subresource = if content.is_empty() {
        "finalize"
    } else {
        "status"
    };
    let result = writing(cluster, &resource, subresource).update(&Key::cluster(name), |live| {
        let live = live.ok_or_else(|| ApiError::not_found(&resource.id, name))?;
        let mut namespace = live.clone();
        if content.is_empty() {
            release(&mut namespace);
        } else {
            set_conditions(&mut namespace, &conditions(&content), &cluster.timestamp());
        }
        Ok(Change::Replaced(namespace))
    });
    if let Err(error) = result {
        tracing::debug!(name, %error, "the namespace could not be finished");
    }
}

/// Removes the hold of the namespace controller.
fn release(namespace: &mut Value) {
    let held = meta::strings(namespace["spec"].get("finalizers"));
    let kept: Vec<&str> = held
        .into_iter()
        .filter(|name| *name != "kubernetes")
        .collect();
    namespace["spec"]["finalizers"] = json!(kept);
}

/// Why a namespace stays, or that nothing is wrong.
struct Condition {
    kind: &'static str,
    holds: bool,
    reason: &'static str,
    message: String,
}

fn conditions(content: &Content) -> Vec<Condition> {
    let fine = |kind, reason, message: &str| Condition {
        kind,
        holds: false,
        reason,
        message: message.to_owned(),
    };
    vec![
        fine(
            "NamespaceDeletionDiscoveryFailure",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        fine(
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        fine(
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        content_remaining(content),
        finalizers_remaining(content),
    ]
}

fn content_remaining(content: &Content) -> Condition {
    let remaining: Vec<String> = content
        .iter()
        .map(|(resource, objects)| {
            let ResourceId { group, plural } = &resource.id;
            format!("{plural}.{group} has {} resource instances", objects.len())
        })
        .collect();
    Condition {
        kind: "NamespaceContentRemaining",
        holds: true,
        reason: "SomeResourcesRemain",
        message: format!("Some resources are remaining: {}", remaining.join(", ")),
    }
}

fn finalizers_remaining(content: &Content) -> Condition {
    let kind = "NamespaceFinalizersRemaining";
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for object in content.iter().flat_map(|(_, objects)| objects) {
        for finalizer in meta::finalizers(object) {
            *holders.entry(finalizer).or_default() += 1;
        }
    }
    let held = |(name, count): (&&str, &usize)| format!("{name} in {count} resource instances");
    let holders: Vec<String> = holders.iter().map(held).collect();
    if holders.is_empty() {
        let message = "All content-preserving finalizers finished".to_owned();
        return Condition {
            kind,
            holds: false,
            reason: "ContentHasNoFinalizers",
            message,
        };
    }
    let list = holders.join(", ");
    let message = format!("Some content in the namespace has finalizers remaining: {list}");
    Condition {
        kind,
        holds: true,
        reason: "SomeFinalizersRemain",
        message,
    }
}

fn set_conditions(namespace: &mut Value, conditions: &[Condition], now: &str) {
    let old = namespace["status"]["conditions"].take();
    let old = old.as_array().map_or(&[] as &[Value], Vec::as_slice);
    let new: Vec<Value> = conditions
        .iter()
        .map(
            |Condition {
                 kind,
                 holds,
                 reason,
                 message,
             }| {
                let status = if *holds { "True" } else { "False" };
                let same = old
                    .iter()
                    .find(|old| old["type"] == **kind && old["status"] == *status);
                let since =
                    same.map_or_else(|| now.into(), |old| old["lastTransitionTime"].clone());
                json!({
                    "type": kind,
                    "status": status,
                    "lastTransitionTime": since,
                    "reason": reason,
                    "message": message,
                })
            },
        )
        .collect();
    namespace["status"]["conditions"] = new.into();
}
