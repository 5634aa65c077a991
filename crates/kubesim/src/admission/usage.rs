//! How much of a namespace's quota objects use.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::meta;
use crate::quantity::Quantity;
use crate::store::{Key, ResourceId};

/// Amounts by the names that quotas give them.
pub(crate) type Usage = BTreeMap<String, Quantity>;

/// What the objects of a namespace use of what a quota limits, without the one at `except`.
pub(crate) fn used(cluster: &Cluster, quota: &Value, except: Option<(&ResourceId, &Key)>) -> Usage {
    let hard = hard(quota);
    let mut used: Usage = hard
        .keys()
        .map(|name| (name.clone(), Quantity::whole_number(0)))
        .collect();
    let namespace = meta::namespace(quota);
    for resource in cluster.store().resources() {
        let snapshot = cluster.store().snapshot(&resource);
        for (key, object) in snapshot.in_namespace(Some(namespace)) {
            let skipped = except.is_some_and(|(id, at)| *id == resource && at == key);
            if skipped || !is_in_scope(quota, &resource, object) {
                continue;
            }
            for (name, amount) in charge(&resource, object) {
                used.entry(name).and_modify(|sum| *sum = sum.plus(amount));
            }
        }
    }
    used
}

/// What a quota limits.
pub(super) fn hard(quota: &Value) -> Usage {
    let hard = quota["spec"]["hard"].as_object().into_iter().flatten();
    hard.filter_map(|(name, amount)| Some((name.clone(), Quantity::of(amount)?)))
        .collect()
}

/// Everything that one object is charged for.
pub(super) fn charge(resource: &ResourceId, object: &Value) -> Usage {
    let mut usage = Usage::new();
    let one = Quantity::whole_number(1);
    let is_pod = resource.group.is_empty() && &*resource.plural == "pods";
    usage.insert(format!("count/{resource}"), one);
    if !resource.group.is_empty() {
        return usage;
    }
    if is_pod
        && matches!(
            object["status"]["phase"].as_str(),
            Some("Succeeded" | "Failed")
        )
    {
        return usage;
    }
    usage.insert(resource.plural.to_string(), one);
    match &*resource.plural {
        "pods" => charge_pod(&mut usage, object),
        "services" => charge_service(&mut usage, object),
        "persistentvolumeclaims" => charge_claim(&mut usage, object),
        _ => {}
    }
    usage
}

fn charge_pod(usage: &mut Usage, pod: &Value) {
    let mut add = |name: String, amount: Quantity| {
        usage
            .entry(name)
            .and_modify(|sum| *sum = sum.plus(amount))
            .or_insert(amount);
    };
    for container in pod["spec"]["containers"].as_array().into_iter().flatten() {
        for field in ["requests", "limits"] {
            let amounts = container["resources"][field]
                .as_object()
                .into_iter()
                .flatten();
            for (name, amount) in amounts {
                let Some(amount) = Quantity::of(amount) else {
                    continue;
                };
                add(format!("{field}.{name}"), amount);
                if field == "requests" {
                    add(name.clone(), amount);
                }
            }
        }
    }
}

fn charge_service(usage: &mut Usage, service: &Value) {
    let kind = service["spec"]["type"].as_str().unwrap_or_default();
    let ports = service["spec"]["ports"].as_array().map_or(0, Vec::len);
    if kind == "LoadBalancer" {
        usage.insert("services.loadbalancers".into(), Quantity::whole_number(1));
    }
    if matches!(kind, "LoadBalancer" | "NodePort") {
        usage.insert(
            "services.nodeports".into(),
            Quantity::whole_number(i64::try_from(ports).unwrap_or(i64::MAX)),
        );
    }
}

fn charge_claim(usage: &mut Usage, claim: &Value) {
    let size = Quantity::of(&claim["spec"]["resources"]["requests"]["storage"]);
    let class = claim["spec"]["storageClassName"]
        .as_str()
        .unwrap_or_default();
    let of_class = |name: &str| format!("{class}.storageclass.storage.k8s.io/{name}");
    if let Some(size) = size {
        usage.insert("requests.storage".into(), size);
        usage.insert(of_class("requests.storage"), size);
    }
    usage.insert(
        of_class("persistentvolumeclaims"),
        Quantity::whole_number(1),
    );
}

/// Quotas with scopes count only some pods.
pub(super) fn is_in_scope(quota: &Value, resource: &ResourceId, object: &Value) -> bool {
    let scopes = meta::strings(quota["spec"].get("scopes"));
    let is_pod = resource.group.is_empty() && &*resource.plural == "pods";
    let best_effort = object["status"]["qosClass"] == "BestEffort";
    let ends = object["spec"]["activeDeadlineSeconds"].as_i64().is_some();
    scopes.is_empty()
        || is_pod
            && scopes.iter().all(|scope| match *scope {
                "BestEffort" => best_effort,
                "NotBestEffort" => !best_effort,
                "Terminating" => ends,
                "NotTerminating" => !ends,
                _ => true,
            })
}
