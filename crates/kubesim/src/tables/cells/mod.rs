//! What stands in the columns of built-in resources: one function for each, by its area.

mod admission;
mod configuration;
mod network;
mod nodes;
mod pods;
mod recorded;
mod rights;
mod storage;
mod workloads;

use serde_json::{Value, json};

use super::{Seen, custom};
use crate::registry::ResourceType;

pub(super) use pods::add_conditions;

/// Makes one row.
type Cells = fn(Seen<'_>) -> Vec<Value>;

/// The cells of an object's row.
pub(super) fn of(resource: &ResourceType, seen: Seen<'_>) -> Vec<Value> {
    match resource.custom_columns() {
        Some(columns) => custom::cells(columns, seen),
        None => cells(&resource.stored.group, &resource.stored.plural)(seen),
    }
}

fn cells(group: &str, plural: &str) -> Cells {
    match group {
        "" => core(plural),
        "apps" => workloads::apps(plural),
        "batch" => workloads::batch(plural),
        "autoscaling" => workloads::autoscaling(plural),
        "networking.k8s.io" | "discovery.k8s.io" => network::cells(plural),
        "storage.k8s.io" => storage::cells(plural),
        "rbac.authorization.k8s.io" | "certificates.k8s.io" => rights::cells(plural),
        "admissionregistration.k8s.io"
        | "apiregistration.k8s.io"
        | "flowcontrol.apiserver.k8s.io" => admission::cells(plural),
        _ => configuration::others(plural),
    }
}

fn core(plural: &str) -> Cells {
    match plural {
        "pods" => pods::pod,
        "nodes" => nodes::node,
        "events" => recorded::event,
        "componentstatuses" => recorded::component,
        "services" | "endpoints" => network::cells(plural),
        "persistentvolumes" | "persistentvolumeclaims" => storage::cells(plural),
        "replicationcontrollers" | "podtemplates" => workloads::core(plural),
        _ => configuration::core(plural),
    }
}

/// What a scale shows.
pub(super) fn scale(seen: Seen<'_>) -> Vec<Value> {
    let replicas = |part: &Value| json!(part["replicas"].as_i64().unwrap_or_default());
    let (spec, status) = (replicas(seen.spec()), replicas(seen.status()));
    vec![json!(seen.name()), spec, status, json!(seen.age())]
}

/// What resources show that have no columns of their own.
fn name_and_creation(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        seen.object["metadata"]["creationTimestamp"].clone(),
    ]
}

/// What many show that have little to say.
fn name_and_age(seen: Seen<'_>) -> Vec<Value> {
    vec![json!(seen.name()), json!(seen.age())]
}

/// Whether a condition of an object is true.
fn is_condition(status: &Value, kind: &str) -> bool {
    condition(status, kind).is_some_and(|condition| condition["status"] == "True")
}

fn condition<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = status["conditions"].as_array()?;
    conditions
        .iter()
        .find(|condition| condition["type"] == kind)
}
