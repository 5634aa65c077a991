//! What the server says of itself: which groups, versions and resources there are, in the older
//! form (one request per version) and the newer one (all in two answers), and its version.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::registry::{Registry, ResourceType, Subresource, Verb, api_version};

/// The release whose behaviour is simulated.
const VERSION: &str = "v1.36.4";

/// `/version`.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": VERSION,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "evenkeel-kubesim",
        "platform": "linux/amd64",
    })
}

/// `/api` in the older form.
pub(crate) fn core_versions() -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": "10.10.10.10:8050"},
        ],
    })
}

/// `/` lists the paths that lead on.
pub(crate) fn index(registry: &Registry) -> Value {
    let groups = Groups::of(registry);
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    paths.push("/apis/".to_owned());
    for group in &groups.named {
        paths.push(format!("/apis/{}", group.name));
        paths.extend(
            group
                .versions
                .iter()
                .map(|version| format!("/apis/{}/{}", group.name, version.name)),
        );
    }
    paths.extend(
        [
            "/healthz",
            "/livez",
            "/openapi/v3",
            "/openapi/v3/",
            "/readyz",
            "/version",
        ]
        .map(str::to_owned),
    );
    json!({"paths": paths})
}

/// `/apis` in the older form.
pub(crate) fn groups(registry: &Registry) -> Value {
    let groups: Vec<Value> = Groups::of(registry)
        .named
        .iter()
        .map(Group::to_value)
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/{group}`.
pub(crate) fn group(registry: &Registry, name: &str) -> Option<Value> {
    let groups = Groups::of(registry);
    let mut found = groups
        .named
        .iter()
        .find(|group| group.name == name)?
        .to_value();
    found["kind"] = "APIGroup".into();
    found["apiVersion"] = "v1".into();
    Some(found)
}

/// `/api/v1` and `/apis/{group}/{version}`.
pub(crate) fn resources(registry: &Registry, group: &str, version: &str) -> Option<Value> {
    let groups = Groups::of(registry);
    let found = groups.all().find(|known| known.name == group)?;
    let version = found.versions.iter().find(|known| known.name == version)?;
    let resources: Vec<Value> = version
        .resources
        .iter()
        .flat_map(|known| rows(known))
        .collect();
    let mut list = json!({
        "kind": "APIResourceList",
        "groupVersion": api_version(group, &version.name),
        "resources": resources,
    });
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    Some(list)
}

/// `/api` in the newer form.
pub(crate) fn aggregated_core(registry: &Registry) -> Value {
    aggregated(std::slice::from_ref(&Groups::of(registry).core))
}

/// `/apis` in the newer form.
pub(crate) fn aggregated_groups(registry: &Registry) -> Value {
    aggregated(&Groups::of(registry).named)
}

fn aggregated(groups: &[Group]) -> Value {
    let items: Vec<Value> = groups.iter().map(Group::to_aggregated).collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

/// All resources by group and version.
struct Groups {
    core: Group,
    named: Vec<Group>,
}

#[derive(Default)]
struct Group {
    name: String,
    versions: Vec<Version>,
}

struct Version {
    name: String,
    resources: Vec<Arc<ResourceType>>,
}

impl Groups {
    /// Built-in groups stand in the order of the table; groups of custom resources follow.
    fn of(registry: &Registry) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for resource in registry.all() {
            let place = *places
                .entry(resource.id.group.to_string())
                .or_insert_with(|| {
                    groups.push(Group {
                        name: resource.id.group.to_string(),
                        versions: Vec::new(),
                    });
                    groups.len() - 1
                });
            groups[place].add(resource);
        }
        for group in &mut groups {
            group
                .versions
                .sort_by_cached_key(|version| std::cmp::Reverse(priority(&version.name)));
        }
        let core = if groups.is_empty() {
            Group::default()
        } else {
            groups.remove(0)
        };
        Self {
            core,
            named: groups,
        }
    }

    fn all(&self) -> impl Iterator<Item = &Group> {
        std::iter::once(&self.core).chain(&self.named)
    }
}

impl Group {
    fn add(&mut self, resource: Arc<ResourceType>) {
        match self
            .versions
            .iter_mut()
            .find(|version| *version.name == *resource.version)
        {
            Some(version) => version.resources.push(resource),
            None => self.versions.push(Version {
                name: resource.version.to_string(),
                resources: vec![resource],
            }),
        }
    }

    fn to_value(&self) -> Value {
        let versions: Vec<Value> = self
            .versions
            .iter()
            .map(|version| {
                json!({
                    "groupVersion": api_version(&self.name, &version.name),
                    "version": version.name,
                })
            })
            .collect();
        json!({"name": self.name, "preferredVersion": versions.first(), "versions": versions})
    }

    fn to_aggregated(&self) -> Value {
        let metadata = if self.name.is_empty() {
            json!({})
        } else {
            json!({"name": self.name})
        };
        let versions: Vec<Value> = self
            .versions
            .iter()
            .map(|version| {
                let resources: Vec<Value> =
                    version.resources.iter().map(|known| entry(known)).collect();
                json!({"version": version.name, "resources": resources, "freshness": "Current"})
            })
            .collect();
        json!({"metadata": metadata, "versions": versions})
    }
}

/// Versions in order of maturity: `v2` over `v1` over `v1beta1` over `v1alpha1` over the rest.
pub(crate) fn priority(version: &str) -> (u8, u32, u32, std::cmp::Reverse<String>) {
    let name = std::cmp::Reverse(version.to_owned());
    let parsed = version.strip_prefix('v').and_then(|rest| {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let major: u32 = rest[..digits].parse().ok()?;
        let (stage, minor) = match &rest[digits..] {
            "" => (3, 0),
            rest => match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
                (Some(minor), _) => (2, minor.parse().ok()?),
                (_, Some(minor)) => (1, minor.parse().ok()?),
                _ => return None,
            },
        };
        Some((stage, major, minor))
    });
    let (stage, major, minor) = parsed.unwrap_or_default();
    (stage, major, minor, name)
}

/// The lines of one resource and its subresources in the older form.
fn rows(resource: &ResourceType) -> Vec<Value> {
    let mut row = json!({
        "name": &*resource.id.plural,
        "singularName": &*resource.singular,
        "namespaced": resource.namespaced,
        "kind": &*resource.kind,
        "verbs": words(&resource.verbs),
    });
    add_names(&mut row, resource);
    if let Some(hash) = &resource.hash {
        row["storageVersionHash"] = (**hash).into();
    }
    let mut rows = vec![row];
    rows.extend(
        resource
            .subresources
            .iter()
            .map(|subresource| subrow(resource, subresource)),
    );
    rows
}

fn subrow(resource: &ResourceType, subresource: &Subresource) -> Value {
    let mut row = json!({
        "name": format!("{}/{}", resource.id.plural, subresource.name),
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": &*subresource.kind,
        "verbs": words(&subresource.verbs),
    });
    if !subresource.version.is_empty() {
        row["group"] = (*subresource.group).into();
        row["version"] = (*subresource.version).into();
    }
    row
}

/// One resource with its subresources in the newer form.
fn entry(resource: &ResourceType) -> Value {
    let mut entry = json!({
        "resource": &*resource.id.plural,
        "responseKind": response_kind(resource, &resource.kind, None),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": &*resource.singular,
        "verbs": words(&resource.verbs),
    });
    add_names(&mut entry, resource);
    if !resource.subresources.is_empty() {
        let subresources: Vec<Value> = resource
            .subresources
            .iter()
            .map(|subresource| {
                json!({
                    "subresource": &*subresource.name,
                    "responseKind": response_kind(resource, &subresource.kind, Some(subresource)),
                    "verbs": words(&subresource.verbs),
                })
            })
            .collect();
        entry["subresources"] = subresources.into();
    }
    entry
}

/// Built-in resources leave group and version out when they are the resource's own.
fn response_kind(resource: &ResourceType, kind: &str, subresource: Option<&Subresource>) -> Value {
    let (group, version) = match subresource {
        Some(subresource) if !subresource.version.is_empty() => {
            (&*subresource.group, &*subresource.version)
        }
        _ if resource.is_custom() => (&*resource.id.group, &*resource.version),
        _ => ("", ""),
    };
    json!({"group": group, "version": version, "kind": kind})
}

fn add_names(row: &mut Value, resource: &ResourceType) {
    let names = [
        ("shortNames", &resource.short_names),
        ("categories", &resource.categories),
    ];
    for (key, names) in names {
        if !names.is_empty() {
            row[key] = names.iter().map(|name| Value::from(&**name)).collect();
        }
    }
}

fn words(verbs: &[Verb]) -> Vec<&'static str> {
    verbs.iter().map(|verb| verb.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mature_versions_come_first() {
        let mut versions = ["foo", "v1alpha1", "v1", "v2beta1", "v10", "v1beta2", "v2"];
        versions.sort_by_cached_key(|version| std::cmp::Reverse(priority(version)));
        assert_eq!(
            versions,
            ["v10", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1", "foo"]
        );
    }
}
