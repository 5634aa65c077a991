//! What a cluster holds, without what differs from run to run.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::bed::Bed;

/// The children of the Database, by kind and name.
pub(crate) async fn children(bed: &Bed) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    macro_rules! gather {
        ($($kind:ident),*) => {$(
            for object in bed.api::<$kind>().list(&Default::default()).await.unwrap() {
                let name = format!("{} {}", stringify!($kind), object.name_any());
                all.insert(name, lasting(serde_json::to_value(&object).unwrap()));
            }
        )*};
    }
    gather!(
        ServiceAccount,
        ConfigMap,
        Service,
        StatefulSet,
        PodDisruptionBudget
    );
    all
}

/// An object without what differs from run to run.
fn lasting(mut object: Value) -> Value {
    if let Some(spec) = object["spec"].as_object_mut() {
        for of_server in ["clusterIP", "clusterIPs"] {
            spec.remove(of_server);
        }
    }
    if let Some(ports) = object
        .pointer_mut("/spec/ports")
        .and_then(Value::as_array_mut)
    {
        for port in ports {
            port.as_object_mut().map(|port| port.remove("nodePort"));
        }
    }
    let metadata = &object["metadata"];
    let mut labels = metadata["labels"].clone();
    if let Some(labels) = labels.as_object_mut() {
        labels.remove("evenkeel.io/database-uid");
    }
    json!({"labels": labels, "spec": object["spec"], "data": object["data"]})
}
