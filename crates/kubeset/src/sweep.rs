//! Looking through the whole cluster, by label and metadata only: for objects of sets whose
//! inventory is lost, and for what others keep in a namespace or under a definition.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;

use crate::cluster::Shared;
use crate::error::Error;
use crate::key::ObjectKey;
use crate::marks::owner_of;
use crate::metadata::Seen;
use crate::owner::Owner;
use crate::resource::Resource;

/// What all sets have in the cluster, as far as it could be seen.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    found: BTreeMap<String, Vec<(ObjectKey, String)>>,
    /// What could not be listed, and why.
    pub(crate) gaps: Vec<(String, String)>,
}

impl Sweep {
    /// Looks for the objects of all sets, one list for each kind.
    pub(crate) async fn run(cluster: &Shared) -> Result<Self, Error> {
        let kinds = cluster.discovery.refresh(&cluster.calls).await?;
        let mut sweep = Self::default();
        let broken = kinds.broken().map(|group| {
            (
                format!("the kinds of {group}"),
                "the group does not answer".to_owned(),
            )
        });
        sweep.gaps.extend(broken);
        let owner_key = cluster.settings.owner_key.as_str();
        let kinds: Vec<Arc<Resource>> = kinds.manageable().cloned().collect();
        let places = kinds.into_iter().flat_map(|resource| {
            let places = cluster.settings.places(&resource);
            let named = !cluster.settings.namespaces.is_empty();
            // Who may look at some namespaces only has nothing outside of them.
            let places = places
                .into_iter()
                .filter(move |place| place.is_some() || !named);
            places.map(move |place| (resource.clone(), place))
        });
        let lists = places.map(|(resource, place)| async move {
            let listed = cluster
                .calls
                .list(&resource, place.as_deref(), Some(owner_key));
            let listed = listed.await;
            (resource, listed)
        });
        let mut lists = stream::iter(lists).buffer_unordered(cluster.settings.parallel.get());
        while let Some((resource, listed)) = lists.next().await {
            let (seen, _) = match listed {
                Ok(listed) => listed,
                Err(error) => {
                    sweep
                        .gaps
                        .push((format!("list of {}", resource.kind), error.to_string()));
                    continue;
                }
            };
            for metadata in seen.into_iter().map(|seen| seen.metadata) {
                if let Some(owner) = owner_of(&metadata, owner_key) {
                    let name = metadata.name.as_deref().unwrap_or_default();
                    let key = resource.key(metadata.namespace.as_deref(), name);
                    let uid = metadata.uid.clone().unwrap_or_default();
                    sweep
                        .found
                        .entry(owner.to_owned())
                        .or_default()
                        .push((key, uid));
                }
            }
        }
        Ok(sweep)
    }

    /// What `owner` has.
    pub(crate) fn of(&self, owner: &Owner) -> impl Iterator<Item = (&ObjectKey, &str)> {
        let found = self.found.get(owner.as_str()).into_iter().flatten();
        found.map(|(key, uid)| (key, uid.as_str()))
    }
}

/// How many objects a namespace holds that are neither `owner`'s nor made by the cluster itself.
pub(crate) async fn foreign_in_namespace(
    cluster: &Shared,
    owner: &Owner,
    namespace: &str,
) -> Result<usize, Error> {
    let kinds = cluster.kinds().await?;
    let inside = kinds
        .manageable()
        .filter(|resource| resource.namespaced && !is_record(resource));
    let inside: Vec<Arc<Resource>> = inside.cloned().collect();
    let counts = inside
        .into_iter()
        .map(|resource| async move { foreign(cluster, owner, &resource, Some(namespace)).await });
    let counts: Vec<_> = stream::iter(counts)
        .buffer_unordered(cluster.settings.parallel.get())
        .collect()
        .await;
    counts.into_iter().sum()
}

/// How many objects of a kind are not `owner`'s.
pub(crate) async fn foreign(
    cluster: &Shared,
    owner: &Owner,
    resource: &Resource,
    namespace: Option<&str>,
) -> Result<usize, Error> {
    let (seen, _) = cluster.calls.list(resource, namespace, None).await?;
    let ours = |seen: &Seen| {
        let metadata = &seen.metadata;
        owner_of(metadata, &cluster.settings.owner_key) == Some(owner.as_str())
            || metadata
                .owner_references
                .as_ref()
                .is_some_and(|owners| !owners.is_empty())
            || is_furniture(resource, metadata.name.as_deref().unwrap_or_default())
    };
    Ok(seen.iter().filter(|seen| !ours(seen)).count())
}

/// Kinds that only tell of others.
fn is_record(resource: &Resource) -> bool {
    matches!(
        resource.kind.kind.as_str(),
        "Event" | "Endpoints" | "EndpointSlice" | "PodMetrics"
    )
}

/// What every namespace holds from the start.
fn is_furniture(resource: &Resource, name: &str) -> bool {
    (resource.kind.is("", "ConfigMap") && name == "kube-root-ca.crt")
        || (resource.kind.is("", "ServiceAccount") && name == "default")
}
