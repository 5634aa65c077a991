//! Custom resource definitions: served when their names are accepted, emptied before they go.

use serde_json::{Value, json};

use super::{Happening, writing};
use crate::cluster::Cluster;
use crate::crd;
use crate::meta;
use crate::request::{DeleteOptions, Propagation};
use crate::status::ApiError;
use crate::store::{Key, Object, ResourceId};
use crate::verbs::{Change, Writing};

/// The finalizer that keeps a definition until its objects have gone.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

pub(crate) fn is_definition(resource: &ResourceId) -> bool {
    &*resource.plural == "customresourcedefinitions" && &*resource.group == "apiextensions.k8s.io"
}

fn id() -> ResourceId {
    ResourceId::new("apiextensions.k8s.io", "customresourcedefinitions")
}

/// Marks a definition as its deletion does.
pub(crate) fn terminate(definition: &mut Value, now: &str) {
    let mut finalizers = meta::finalizers(definition);
    if !finalizers.contains(&CLEANUP) {
        finalizers.push(CLEANUP);
    }
    let finalizers: Vec<String> = finalizers.into_iter().map(str::to_owned).collect();
    meta::set(definition, "finalizers", finalizers);
    meta::set(definition, "deletionTimestamp", now);
    let condition = json!({
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    if let Some(conditions) = definition["status"]["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != "Terminating");
        conditions.push(condition);
    }
}

/// Serves the definitions that the store holds.
pub(super) fn restore(cluster: &Cluster) {
    for definition in cluster.store().snapshot(&id()).objects.values() {
        serve(cluster, definition);
    }
}

pub(super) fn react(cluster: &Cluster, happening: &Happening) {
    if !is_definition(&happening.resource) {
        if happening.after.is_none() {
            release_definition_of(cluster, &happening.resource);
        }
        return;
    }
    let name = happening.key.name();
    match cluster.store().get(&id(), &happening.key) {
        None => cluster.registry().forget(name),
        Some(definition) if meta::is_deleting(&definition) => empty(cluster, &definition),
        Some(definition) => {
            accept(cluster, &happening.key);
            if let Some(accepted) = cluster.store().get(&id(), &happening.key) {
                serve(cluster, &accepted);
            } else {
                serve(cluster, &definition);
            }
        }
    }
}

/// Brings the status of a definition up to date.
fn accept(cluster: &Cluster, key: &Key) {
    let others: Vec<Object> = cluster
        .store()
        .snapshot(&id())
        .objects
        .values()
        .cloned()
        .collect();
    change(cluster, key, "status", |definition| {
        crd::accept(
            definition,
            others.iter().map(|other| &**other),
            &cluster.timestamp(),
        );
    });
}

/// Serves what an established definition defines.
fn serve(cluster: &Cluster, definition: &Value) {
    let conditions = definition["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    let mut established = conditions.filter(|condition| condition["type"] == "Established");
    if !established.any(|condition| condition["status"] == "True") {
        return;
    }
    match crd::compile(definition) {
        Ok(compiled) => cluster.registry().define(compiled),
        Err(errors) => tracing::debug!(?errors, "a stored definition does not compile"),
    }
}

/// Deletes the objects of a definition that is being deleted, and lets it go when none is left.
fn empty(cluster: &Cluster, definition: &Value) {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let defined = ResourceId::new(&text(&spec["group"]), &text(&spec["names"]["plural"]));
    let options = DeleteOptions {
        propagation: Some(Propagation::Background),
        ..DeleteOptions::default()
    };
    if let Some(resource) = cluster.registry().find_stored(&defined) {
        for (key, object) in &cluster.store().snapshot(&defined).objects {
            if !meta::is_deleting(object) {
                // What has gone meanwhile needs no deleting.
                let _ = writing(cluster, &resource, "").delete(key, &options);
            }
        }
    }
    release(cluster, definition, &defined);
}

/// Lets a definition go whose last object has gone.
fn release_definition_of(cluster: &Cluster, defined: &ResourceId) {
    let key = Key::cluster(&defined.to_string());
    let definition = cluster.store().get(&id(), &key);
    if let Some(definition) = definition.filter(|definition| meta::is_deleting(definition)) {
        release(cluster, &definition, defined);
    }
}

fn release(cluster: &Cluster, definition: &Value, defined: &ResourceId) {
    if cluster.store().snapshot(defined).objects.is_empty() {
        let key = meta::key(definition);
        change(cluster, &key, "", |definition| {
            meta::remove_finalizer(definition, CLEANUP);
        });
    }
}

fn change(cluster: &Cluster, key: &Key, subresource: &str, edit: impl Fn(&mut Value)) {
    let ResourceId { group, plural } = id();
    let Some(resource) = cluster.registry().find(&group, "v1", &plural) else {
        return;
    };
    let writing = Writing {
        manager: super::SERVER,
        ..writing(cluster, &resource, subresource)
    };
    let result = writing.update(key, |live| {
        let live = live.ok_or_else(|| ApiError::not_found(&resource.id, key.name()))?;
        let mut definition = live.clone();
        edit(&mut definition);
        Ok(Change::Replaced(definition))
    });
    if let Err(error) = result {
        tracing::debug!(%key, %error, "a definition could not be changed");
    }
}
