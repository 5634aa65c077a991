//! Which kinds the server serves: asked once, and again when a kind is not among them.

mod calls;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResource;
use kube::core::discovery::v2::{APIGroupDiscovery, APIResourceDiscovery, APIVersionDiscovery};
use tokio::sync::Mutex;

use crate::calls::Calls;
use crate::error::Error;
use crate::key::GroupKind;
use crate::resource::Resource;

/// How many groups are asked at once, where each has to be.
const AT_ONCE: usize = 8;

/// The kinds that one server serves, as far as somebody asked.
#[derive(Debug, Default)]
pub(crate) struct Discovery(Mutex<Option<Arc<Kinds>>>);

impl Discovery {
    /// What is known; asks when nothing is.
    pub(crate) async fn kinds(&self, calls: &Calls) -> Result<Arc<Kinds>, Error> {
        let mut known = self.0.lock().await;
        match &*known {
            Some(kinds) => Ok(kinds.clone()),
            None => Ok(known.insert(ask(calls).await?).clone()),
        }
    }

    /// Asks again.
    pub(crate) async fn refresh(&self, calls: &Calls) -> Result<Arc<Kinds>, Error> {
        let asked = ask(calls).await?;
        Ok(self.0.lock().await.insert(asked).clone())
    }
}

async fn ask(calls: &Calls) -> Result<Arc<Kinds>, Error> {
    let kinds = match aggregated(calls).await? {
        Some(kinds) => kinds,
        None => one_by_one(calls).await?,
    };
    Ok(Arc::new(kinds))
}

/// Everything in two answers; `None` from a server, or through a proxy, that knows only the old way.
async fn aggregated(calls: &Calls) -> Result<Option<Kinds>, Error> {
    let core = match calls.core_kinds().await {
        Err(error) if error.code() == Some(406) => return Ok(None),
        // An answer of the old sort reads as one without groups.
        Ok(core) if core.items.is_empty() => return Ok(None),
        core => core?,
    };
    let groups = calls.group_kinds().await?;
    let mut kinds = Kinds::default();
    for group in core.items.iter().chain(&groups.items) {
        kinds.add(group);
    }
    Ok(Some(kinds))
}

/// The old way: one answer for each version of each group.
async fn one_by_one(calls: &Calls) -> Result<Kinds, Error> {
    let mut kinds = Kinds::default();
    let core = calls.core_versions().await?;
    let core = core.into_iter().map(|version| (String::new(), version));
    let groups = calls.group_versions().await?;
    let asks = core.chain(groups).map(|(group, version)| async move {
        let listed = calls.resources(&group, &version).await;
        (group, version, listed)
    });
    let asks: Vec<_> = asks.collect();
    let mut answers = stream::iter(asks).buffered(AT_ONCE);
    while let Some((group, version, listed)) = answers.next().await {
        match listed {
            Ok(listed) => kinds.add_listed(&group, &version, &listed),
            Err(_) if !group.is_empty() => drop(kinds.broken.insert(group)),
            Err(error) => return Err(error),
        }
    }
    Ok(kinds)
}

/// The kinds that a server serves.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    /// Each in its versions, the preferred one first.
    served: BTreeMap<GroupKind, Vec<Arc<Resource>>>,
    broken: BTreeSet<String>,
}

impl Kinds {
    /// The kind in this version, or in the preferred one.
    pub(crate) fn find(&self, kind: &GroupKind, version: Option<&str>) -> Option<&Arc<Resource>> {
        let mut versions = self.served.get(kind)?.iter();
        match version {
            Some(version) => versions.find(|resource| resource.version == version),
            None => versions.next(),
        }
    }

    /// Whether the server of this group does not answer, so that its kinds are unknown.
    pub(crate) fn is_broken(&self, group: &str) -> bool {
        self.broken.contains(group)
    }

    /// The groups that do not answer.
    pub(crate) fn broken(&self) -> impl Iterator<Item = &str> {
        self.broken.iter().map(String::as_str)
    }

    /// Every kind that can be managed, in its preferred version.
    pub(crate) fn manageable(&self) -> impl Iterator<Item = &Arc<Resource>> {
        let preferred = self.served.values().filter_map(|versions| versions.first());
        preferred.filter(|resource| resource.manageable)
    }

    fn add_listed(&mut self, group: &str, version: &str, listed: &[APIResource]) {
        // `pods/log` is a part of something, not a kind.
        for found in listed.iter().filter(|found| !found.name.contains('/')) {
            let resource = Resource {
                kind: GroupKind::new(group, &found.kind),
                version: version.to_owned(),
                plural: found.name.clone(),
                namespaced: found.namespaced,
                manageable: can_be_managed(&found.verbs),
            };
            let versions = self.served.entry(resource.kind.clone()).or_default();
            versions.push(Arc::new(resource));
        }
    }

    fn add(&mut self, group: &APIGroupDiscovery) {
        let name = group
            .metadata
            .as_ref()
            .and_then(|metadata| metadata.name.clone());
        let name = name.unwrap_or_default();
        for version in &group.versions {
            if version.freshness.as_deref() == Some("Stale") {
                self.broken.insert(name.clone());
            }
            for resource in version
                .resources
                .iter()
                .filter_map(|found| read(&name, version, found))
            {
                self.served
                    .entry(resource.kind.clone())
                    .or_default()
                    .push(Arc::new(resource));
            }
        }
    }
}

fn read(
    group: &str,
    version: &APIVersionDiscovery,
    found: &APIResourceDiscovery,
) -> Option<Resource> {
    let kind = found.response_kind.as_ref()?.kind.clone()?;
    Some(Resource {
        kind: GroupKind::new(group, kind),
        version: version.version.clone()?,
        plural: found.resource.clone()?,
        namespaced: found.scope.as_deref() == Some("Namespaced"),
        manageable: can_be_managed(&found.verbs),
    })
}

fn can_be_managed(verbs: &[String]) -> bool {
    const NEEDED: [&str; 5] = ["list", "watch", "get", "patch", "delete"];
    NEEDED
        .iter()
        .all(|verb| verbs.iter().any(|has| has == verb))
}
