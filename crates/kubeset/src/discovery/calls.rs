//! Asking which kinds there are: all at once, or, of older servers, one by one.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    APIGroup, APIGroupList, APIResource, APIResourceList, APIVersions,
};
use kube::core::discovery::v2::{
    ACCEPT_AGGREGATED_DISCOVERY_V2 as AGGREGATED, APIGroupDiscoveryList,
};

use crate::ask::get;
use crate::calls::Calls;
use crate::error::Error;

const PLAIN: &str = "application/json";

impl Calls {
    pub(super) async fn core_kinds(&self) -> Result<APIGroupDiscoveryList, Error> {
        self.ask("discover the core kinds", || get("/api", AGGREGATED))
            .await
    }

    pub(super) async fn group_kinds(&self) -> Result<APIGroupDiscoveryList, Error> {
        let attempt = "discover the kinds of all groups";
        self.ask(attempt, || get("/apis", AGGREGATED)).await
    }

    /// The versions of the core group.
    pub(super) async fn core_versions(&self) -> Result<Vec<String>, Error> {
        let attempt = "discover the core versions";
        let found: APIVersions = self.ask(attempt, || get("/api", PLAIN)).await?;
        Ok(found.versions)
    }

    /// All other groups with each of their versions, the preferred one first.
    pub(super) async fn group_versions(&self) -> Result<Vec<(String, String)>, Error> {
        let asked = self.ask("discover the groups", || get("/apis", PLAIN));
        let found: APIGroupList = asked.await?;
        Ok(found.groups.into_iter().flat_map(versions).collect())
    }

    /// The kinds of one version of a group.
    pub(super) async fn resources(
        &self,
        group: &str,
        version: &str,
    ) -> Result<Vec<APIResource>, Error> {
        let path = match group {
            "" => format!("/api/{version}"),
            group => format!("/apis/{group}/{version}"),
        };
        let asked = self.ask("discover the kinds of a group", || get(&path, PLAIN));
        let found: APIResourceList = asked.await?;
        Ok(found.resources)
    }
}

fn versions(group: APIGroup) -> Vec<(String, String)> {
    let preferred = group.preferred_version.map(|preferred| preferred.version);
    let all = group.versions.into_iter().map(|version| version.version);
    let others = all.filter(|version| Some(version) != preferred.as_ref());
    let others: Vec<_> = others.collect();
    let versions = preferred.into_iter().chain(others);
    versions
        .map(|version| (group.name.clone(), version))
        .collect()
}
