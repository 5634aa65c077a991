//! Wanted objects: what somebody wrote, resolved against what the server serves, with marks.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_reconcile::{Desired, Matches, Wanted};
use serde_json::Value;

use crate::cluster::Shared;
use crate::drift::Drift;
use crate::error::Error;
use crate::key::{GroupKind, ObjectKey};
use crate::live::Live;
use crate::manifest::{Manifest, Manifests};
use crate::marks::{Marks, is_made_once};
use crate::owner::Whose;
use crate::rank::rank;
use crate::resource::Resource;
use crate::set::SetPolicy;

/// A wanted object. What is applied is made of it when it is: most passes apply nothing.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) resource: Arc<Resource>,
    /// What somebody wrote.
    written: Arc<Value>,
    /// The definition in the same set that its kind still waits for.
    pub(crate) defined_by: Option<ObjectKey>,
    /// It is made if it is missing, and then left as it is.
    pub(crate) once: bool,
}

impl Item {
    /// The object as it is applied, where `key` says, with marks and a place for the seal.
    pub(crate) fn object(&self, key: &ObjectKey, marks: &Marks<'_>) -> Value {
        let mut object = (*self.written).clone();
        place(&mut object, key.namespace.as_deref());
        marks.put(&mut object);
        object
    }
}

/// An object of the cluster beside what is wanted of it.
#[derive(Debug)]
pub(crate) struct Sighting {
    pub(crate) live: Live,
    pub(crate) drift: Drift,
    /// From which set it is to be taken.
    pub(crate) moved_from: Option<String>,
}

impl Matches<Sighting> for Item {
    fn difference(&self, seen: &Sighting) -> Option<String> {
        match &seen.moved_from {
            Some(from) => Some(format!("it is moved here from {from}")),
            None if !seen.drift.counts() => None,
            None => Some(seen.drift.to_string()),
        }
    }
}

pub(crate) type DesiredSet = Desired<ObjectKey, Item, u64>;

/// Resolves what somebody wrote against what the server serves, or will serve.
pub(crate) async fn resolve(
    cluster: &Shared,
    whose: &Whose,
    policy: &SetPolicy,
    manifests: &Manifests,
) -> Result<DesiredSet, Error> {
    let default_namespace = default_namespace(whose, policy);
    let marks = Marks::new(cluster, whose, policy).fingerprint(default_namespace);
    let defined = definitions(&manifests.objects);
    let mut wanted = Vec::with_capacity(manifests.objects.len());
    for manifest in &manifests.objects {
        let (resource, defined_by) = find(cluster, &defined, manifest).await?;
        let namespace = resource.namespaced.then(|| {
            manifest
                .id
                .namespace
                .as_deref()
                .unwrap_or(default_namespace)
        });
        let key = resource.key(namespace, &manifest.id.name);
        within_reach(cluster, whose, &key)?;
        let item = Item {
            resource,
            once: is_made_once(manifest.object()),
            written: manifest.object().clone(),
            defined_by,
        };
        let (rank, version) = (rank(&key.kind), manifest.content() ^ marks);
        wanted.push((key, Wanted::new(item, version).ranked(rank)));
    }
    Desired::things(wanted).map_err(|twice| Error::Twice { key: twice.key })
}

fn default_namespace<'a>(whose: &'a Whose, policy: &'a SetPolicy) -> &'a str {
    let given = Some(policy.default_namespace.as_str()).filter(|given| !given.is_empty());
    let parents = whose.parent().and_then(|parent| parent.namespace());
    given.or(parents).unwrap_or("default")
}

/// A child is where its parent is, and of a kind that is followed also when no parent wants it;
/// otherwise the cluster removes it, or nobody ever does.
fn within_reach(cluster: &Shared, whose: &Whose, key: &ObjectKey) -> Result<(), Error> {
    let Some(parent) = whose.parent() else {
        return Ok(());
    };
    let (key, parent) = (key.clone(), parent.to_string());
    if !cluster.settings.child_kinds.contains(&key.kind) {
        return Err(Error::UnlistedKind { key, parent });
    }
    let near = |namespace| key.namespace.as_deref() == Some(namespace);
    match whose.parent().and_then(|parent| parent.namespace()) {
        Some(namespace) if !near(namespace) => Err(Error::OutOfReach { key, parent }),
        Some(_) | None => Ok(()),
    }
}

fn place(object: &mut Value, namespace: Option<&str>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    match namespace {
        Some(namespace) => metadata.insert("namespace".to_owned(), namespace.into()),
        None => metadata.remove("namespace"),
    };
}

/// A kind in a version, as a definition of the set makes it.
type Definition = ((GroupKind, String), (Arc<Resource>, ObjectKey));
type Defined = BTreeMap<(GroupKind, String), (Arc<Resource>, ObjectKey)>;

async fn find(
    cluster: &Shared,
    defined: &Defined,
    manifest: &Manifest,
) -> Result<(Arc<Resource>, Option<ObjectKey>), Error> {
    let known = cluster.kinds().await?;
    let (kind, version) = (manifest.kind(), manifest.id.version.as_str());
    if let Some(resource) = known.find(&kind, Some(version)) {
        return Ok((resource.clone(), None));
    }
    if let Some((resource, by)) = defined.get(&(kind.clone(), version.to_owned())) {
        return Ok((resource.clone(), Some(by.clone())));
    }
    match cluster.find(&kind, Some(version)).await? {
        Some(resource) => Ok((resource, None)),
        None => Err(Error::UnknownKind {
            kind,
            api_version: manifest.id.api_version(),
        }),
    }
}

/// The kinds that the set itself defines.
fn definitions(manifests: &[Manifest]) -> Defined {
    let definitions = manifests
        .iter()
        .filter(|manifest| manifest.kind().is_definition());
    definitions.flat_map(defined_by).collect()
}

fn defined_by(definition: &Manifest) -> Vec<Definition> {
    let spec = &definition.object()["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = GroupKind::new(text(&spec["group"]), text(&spec["names"]["kind"]));
    let by = ObjectKey::new(definition.kind(), None, &definition.id.name);
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"].as_bool().unwrap_or(false));
    served
        .map(|version| {
            let resource = Resource {
                kind: kind.clone(),
                version: text(&version["name"]),
                plural: text(&spec["names"]["plural"]),
                namespaced: spec["scope"] == "Namespaced",
                manageable: true,
            };
            (
                (kind.clone(), resource.version.clone()),
                (Arc::new(resource), by.clone()),
            )
        })
        .collect()
}
