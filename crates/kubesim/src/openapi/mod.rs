//! What the server publishes of its types (OpenAPI v3): an index, and one document for each group
//! and version. kubectl reads them to explain fields and to see what the server checks.
//!
//! ```text
//! /openapi/v3 ──▶ index      /openapi/v3/apis/GROUP/VERSION ──▶ paths + types ──▶ document
//! ```
//!
//! `types` are those of the built-in kinds, recorded from a real server, and those that
//! definitions define; `paths` says by which requests objects are reached.

mod paths;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cluster::Cluster;
use crate::registry::{Registry, ResourceType};
use crate::store::{Key, Object, ResourceId};

/// `/openapi/v3`: where the documents are.
pub(crate) fn index(cluster: &Cluster) -> Value {
    let mut versions: BTreeMap<String, Vec<Arc<ResourceType>>> = BTreeMap::new();
    for resource in cluster.registry().all() {
        let place = place(&resource.id.group, &resource.version);
        versions.entry(place).or_default().push(resource);
    }
    let paths = versions.into_iter().map(|(place, resources)| {
        let url = format!(
            "/openapi/v3/{place}?hash={}",
            hash(cluster, &place, &resources)
        );
        (place, json!({ "serverRelativeURL": url }))
    });
    json!({"paths": paths.collect::<serde_json::Map<_, _>>()})
}

/// `/openapi/v3/api/v1` or `/openapi/v3/apis/{group}/{version}`, as JSON.
pub(crate) fn document(cluster: &Cluster, group: &str, version: &str) -> Option<String> {
    let all = cluster.registry().all();
    let served = all
        .into_iter()
        .filter(|known| &*known.id.group == group && &*known.version == version);
    let resources: Vec<Arc<ResourceType>> = served.collect();
    if resources.is_empty() {
        return None;
    }
    let mut schemas: BTreeMap<String, String> = BTreeMap::new();
    for resource in resources.iter().filter(|resource| resource.is_custom()) {
        let definition = definition(cluster, resource)?;
        schemas.extend(types::custom(resource, &definition));
    }
    if Registry::is_built_in(group) {
        schemas.extend(types::of_version(group, version));
    }
    types::close(&mut schemas);
    let schemas = schemas
        .iter()
        .map(|(name, schema)| format!("{}:{schema}", Value::from(name.as_str())));
    let schemas = schemas.collect::<Vec<_>>().join(",");
    let info = json!({"title": "Kubernetes", "version": "v1.36.4"});
    let paths = paths::of(&resources);
    Some(format!(
        r#"{{"openapi":"3.0.0","info":{info},"paths":{paths},"components":{{"schemas":{{{schemas}}}}}}}"#
    ))
}

fn place(group: &str, version: &str) -> String {
    match group {
        "" => format!("api/{version}"),
        group => format!("apis/{group}/{version}"),
    }
}

/// A mark that changes when a document does.
fn hash(cluster: &Cluster, place: &str, resources: &[Arc<ResourceType>]) -> String {
    let mut digest = Sha256::new();
    digest.update(place);
    let definitions: BTreeSet<String> = resources
        .iter()
        .filter(|resource| resource.is_custom())
        .filter_map(|resource| definition(cluster, resource))
        .map(|definition| definition["metadata"].to_string())
        .collect();
    definitions.iter().for_each(|text| digest.update(text));
    digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}

fn definition(cluster: &Cluster, resource: &ResourceType) -> Option<Object> {
    let definitions = ResourceId::new("apiextensions.k8s.io", "customresourcedefinitions");
    let name = resource.id.to_string();
    cluster.store().get(&definitions, &Key::new(None, &name))
}
