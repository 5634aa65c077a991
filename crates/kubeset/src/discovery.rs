//! Which kinds the server serves: asked once, and again when a kind is not among them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube::core::discovery::v2::{APIGroupDiscovery, APIResourceDiscovery, APIVersionDiscovery};
use tokio::sync::Mutex;

use crate::calls::Calls;
use crate::error::Error;
use crate::key::GroupKind;
use crate::resource::Resource;

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
    let (core, groups) = (calls.core_kinds().await?, calls.group_kinds().await?);
    let mut kinds = Kinds::default();
    for group in core.items.iter().chain(&groups.items) {
        kinds.add(group);
    }
    Ok(Arc::new(kinds))
}

/// The kinds that a server serves.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    /// Each in its versions, the preferred one first.
    served: BTreeMap<GroupKind, Vec<Resource>>,
    broken: BTreeSet<String>,
}

impl Kinds {
    /// The kind in this version, or in the preferred one.
    pub(crate) fn find(&self, kind: &GroupKind, version: Option<&str>) -> Option<&Resource> {
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
    pub(crate) fn manageable(&self) -> impl Iterator<Item = &Resource> {
        let preferred = self.served.values().filter_map(|versions| versions.first());
        preferred.filter(|resource| resource.manageable)
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
                    .push(resource);
            }
        }
    }
}

fn read(
    group: &str,
    version: &APIVersionDiscovery,
    found: &APIResourceDiscovery,
) -> Option<Resource> {
    const NEEDED: [&str; 5] = ["list", "watch", "get", "patch", "delete"];
    let kind = found.response_kind.as_ref()?.kind.clone()?;
    Some(Resource {
        kind: GroupKind::new(group, kind),
        version: version.version.clone()?,
        plural: found.resource.clone()?,
        namespaced: found.scope.as_deref() == Some("Namespaced"),
        manageable: NEEDED
            .iter()
            .all(|verb| found.verbs.iter().any(|has| has == verb)),
    })
}
