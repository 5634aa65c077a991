//! Garbage collection: objects go when none of their owners is left.
//!
//! An owner can go first (background), last (foreground: it waits for the dependents that block
//! it), or without them (orphan). Owners that never existed count as gone.

use std::sync::Arc;

use serde_json::Value;

use super::owners::{Dependent, names};
use super::{Happening, writing};
use crate::cluster::Cluster;
use crate::meta;
use crate::registry::ResourceType;
use crate::request::{DeleteOptions, Preconditions, Propagation};
use crate::status::ApiError;
use crate::store::{Key, Object, ResourceId};
use crate::verbs::{Change, FOREGROUND, ORPHAN};

/// What an owner reference leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// An object that stays.
    Solid,
    /// An object that goes when its dependents have gone.
    Waiting,
    /// Nothing.
    Absent,
}

pub(super) fn react(cluster: &Cluster, happening: &Happening) {
    match &happening.after {
        Some(after) => {
            finish_deletion(cluster, &happening.resource, &happening.key, after);
            collect(cluster, &happening.resource, &happening.key);
        }
        None => bury(cluster, happening),
    }
    // What no longer blocks its owner may have been the last that did.
    for owner in happening
        .before
        .iter()
        .flat_map(|before| meta::owners(before))
    {
        if let Some((resource, key, object)) = find_owner(cluster, owner, &happening.key) {
            finish_deletion(cluster, &resource.stored, &key, &object);
        }
    }
}

/// Deals with those who depended on an object that has gone.
fn bury(cluster: &Cluster, happening: &Happening) {
    let Some(gone) = &happening.before else {
        return;
    };
    let owners = &cluster.housekeeping().owners;
    owners.forget(cluster.store(), &happening.resource, &happening.key, gone);
    for dependent in owners.dependents(cluster.store(), meta::uid(gone)) {
        collect(cluster, &dependent.resource, &dependent.key);
    }
}

/// Does what an object that is being deleted waits for, if that is about its dependents.
fn finish_deletion(cluster: &Cluster, resource: &ResourceId, key: &Key, object: &Value) {
    if !meta::is_deleting(object) {
        return;
    }
    let finalizers = meta::finalizers(object);
    if finalizers.contains(&ORPHAN) {
        for dependent in dependents(cluster, object) {
            disown(
                cluster,
                &dependent.resource,
                &dependent.key,
                &[meta::uid(object)],
            );
        }
        remove_finalizer(cluster, resource, key, ORPHAN);
    } else if finalizers.contains(&FOREGROUND) {
        for dependent in dependents(cluster, object) {
            collect(cluster, &dependent.resource, &dependent.key);
        }
        if !dependents(cluster, object)
            .iter()
            .any(|dependent| blocks(dependent, object))
        {
            remove_finalizer(cluster, resource, key, FOREGROUND);
        }
    }
}

fn dependents(cluster: &Cluster, object: &Value) -> Vec<Dependent> {
    cluster
        .housekeeping()
        .owners
        .dependents(cluster.store(), meta::uid(object))
}

fn blocks(dependent: &Dependent, owner: &Value) -> bool {
    let reference = names(&dependent.object, meta::uid(owner));
    reference.is_some_and(|reference| reference["blockOwnerDeletion"] == true)
}

/// Deletes an object if none of its owners stays; drops references to those that do not.
fn collect(cluster: &Cluster, resource: &ResourceId, key: &Key) {
    let Some(object) = cluster.store().get(resource, key) else {
        return;
    };
    let owners = meta::owners(&object);
    if owners.is_empty() || meta::is_deleting(&object) {
        return;
    }
    let states: Vec<Owner> = owners
        .iter()
        .map(|owner| state(cluster, owner, key))
        .collect();
    if states.contains(&Owner::Solid) {
        let leaving = owners
            .iter()
            .zip(&states)
            .filter(|(_, state)| **state != Owner::Solid);
        let leaving: Vec<&str> = leaving
            .filter_map(|(owner, _)| owner["uid"].as_str())
            .collect();
        if !leaving.is_empty() {
            disown(cluster, resource, key, &leaving);
        }
        return;
    }
    let in_turn = states.contains(&Owner::Waiting) && !dependents(cluster, &object).is_empty();
    delete(cluster, resource, key, &object, in_turn);
}

fn delete(cluster: &Cluster, resource: &ResourceId, key: &Key, object: &Object, in_turn: bool) {
    let Some(resource) = cluster.registry().find_stored(resource) else {
        return;
    };
    let finalizers = meta::finalizers(object);
    let propagation = if in_turn || finalizers.contains(&FOREGROUND) {
        Propagation::Foreground
    } else if finalizers.contains(&ORPHAN) {
        Propagation::Orphan
    } else {
        Propagation::Background
    };
    let uid = Some(meta::uid(object).to_owned());
    let options = DeleteOptions {
        propagation: Some(propagation),
        preconditions: Preconditions {
            uid,
            resource_version: None,
        },
        ..DeleteOptions::default()
    };
    // Somebody else may have deleted it; then there is nothing left to do.
    let _ = writing(cluster, &resource, "").delete(key, &options);
}

fn state(cluster: &Cluster, owner: &Value, dependent: &Key) -> Owner {
    let Some(resource) = owner_type(cluster, owner) else {
        return Owner::Solid;
    };
    // An object outside namespaces cannot be owned by one inside; nobody knows which is meant.
    if resource.namespaced && dependent.namespace().is_none() {
        return Owner::Solid;
    }
    match find_owner(cluster, owner, dependent) {
        None => Owner::Absent,
        Some((_, _, object)) if waits_for_dependents(&object) => Owner::Waiting,
        Some(_) => Owner::Solid,
    }
}

fn waits_for_dependents(object: &Value) -> bool {
    meta::is_deleting(object) && meta::finalizers(object).contains(&FOREGROUND)
}

fn owner_type(cluster: &Cluster, owner: &Value) -> Option<Arc<ResourceType>> {
    let api_version = owner["apiVersion"].as_str()?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    cluster
        .registry()
        .find_kind(group, version, owner["kind"].as_str()?)
}

/// The object that a reference of a dependent leads to.
fn find_owner(
    cluster: &Cluster,
    owner: &Value,
    dependent: &Key,
) -> Option<(Arc<ResourceType>, Key, Object)> {
    let resource = owner_type(cluster, owner)?;
    let namespace = if resource.namespaced {
        Some(dependent.namespace()?)
    } else {
        None
    };
    let key = Key::new(namespace, owner["name"].as_str()?);
    let object = cluster.store().get(&resource.stored, &key)?;
    (object["metadata"]["uid"] == owner["uid"]).then_some((resource, key, object))
}

/// Removes the references to these owners.
fn disown(cluster: &Cluster, resource: &ResourceId, key: &Key, uids: &[&str]) {
    change(cluster, resource, key, |object| {
        let mut owners = meta::owners(object).to_vec();
        owners.retain(|owner| !owner["uid"].as_str().is_some_and(|uid| uids.contains(&uid)));
        if owners.is_empty() {
            meta::remove(object, "ownerReferences");
        } else {
            meta::set(object, "ownerReferences", owners);
        }
    });
}

fn remove_finalizer(cluster: &Cluster, resource: &ResourceId, key: &Key, finalizer: &str) {
    change(cluster, resource, key, |object| {
        meta::remove_finalizer(object, finalizer);
    });
}

/// Changes an object if it is still there.
fn change(cluster: &Cluster, resource: &ResourceId, key: &Key, edit: impl Fn(&mut Value)) {
    let Some(resource) = cluster.registry().find_stored(resource) else {
        return;
    };
    let result = writing(cluster, &resource, "").update(key, |live| {
        let live = live.ok_or_else(|| ApiError::not_found(&resource.id, key.name()))?;
        let mut object = live.clone();
        edit(&mut object);
        Ok(Change::Replaced(object))
    });
    if let Err(error) = result {
        tracing::debug!(%key, %error, "garbage collection could not change an object");
    }
}
