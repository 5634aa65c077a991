//! Cluster roles that are made of others.

use serde_json::{Value, json};

use super::authorize::GROUP;
use crate::cluster::Cluster;
use crate::lifecycle::writing;
use crate::meta;
use crate::selectors::LabelSelector;
use crate::status::ApiError;
use crate::store::{Object, ResourceId};
use crate::verbs::Change;

/// Brings aggregated roles up to date after a write to a cluster role.
pub(crate) fn react(cluster: &Cluster, resource: &ResourceId) {
    if &*resource.plural != "clusterroles" || &*resource.group != GROUP {
        return;
    }
    let roles: Vec<Object> = cluster
        .store()
        .snapshot(resource)
        .objects
        .values()
        .cloned()
        .collect();
    for role in roles
        .iter()
        .filter(|role| role["aggregationRule"].is_object())
    {
        let rules = gather(role, &roles);
        if role["rules"] != rules
            && let Err(error) = write(cluster, resource, role, &rules)
        {
            tracing::debug!(%error, "an aggregated role could not be written");
        }
    }
}

fn gather(role: &Value, roles: &[Object]) -> Value {
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
    let selectors: Vec<LabelSelector> = selectors
        .into_iter()
        .flatten()
        .map(LabelSelector::of)
        .collect();
    let mut rules: Vec<Value> = Vec::new();
    for selector in &selectors {
        let fits = |other: &&Object| {
            selector.matches(&other["metadata"]["labels"]) && meta::uid(other) != meta::uid(role)
        };
        for rule in roles
            .iter()
            .filter(fits)
            .flat_map(|other| other["rules"].as_array().into_iter().flatten())
        {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    json!(rules)
}

fn write(cluster: &Cluster, id: &ResourceId, role: &Value, rules: &Value) -> Result<(), ApiError> {
    let resource = cluster.registry().find_stored(id);
    let resource = resource.ok_or_else(ApiError::no_such_resource)?;
    let change = |live: Option<&Value>| {
        let live = live.ok_or_else(|| ApiError::not_found(id, meta::name(role)))?;
        let mut role = live.clone();
        role["rules"] = rules.clone();
        Ok(Change::Replaced(role))
    };
    writing(cluster, &resource, "")
        .update(&meta::key(role), change)
        .map(drop)
}
