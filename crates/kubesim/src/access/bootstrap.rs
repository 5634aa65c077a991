//! The roles and bindings that a server with rights begins with.

use serde_json::Value;

use super::authorize::GROUP;
use crate::cluster::Cluster;
use crate::lifecycle::writing;
use crate::meta;
use crate::store::ResourceId;
use crate::verbs::Writing;

/// See `generate/access.py` for where they come from.
const OBJECTS: &str = include_str!("../../data/access.json");

/// Creates what is not there.
pub(crate) fn found(cluster: &Cluster) {
    let objects: Vec<Value> = serde_json::from_str(OBJECTS).unwrap_or_default();
    for mut object in objects {
        let plural = match object["kind"].as_str() {
            Some("ClusterRole") => "clusterroles",
            _ => "clusterrolebindings",
        };
        let id = ResourceId::new(GROUP, plural);
        let Some(resource) = cluster.registry().find_stored(&id) else {
            return;
        };
        if cluster.store().get(&id, &meta::key(&object)).is_some() {
            continue;
        }
        object["apiVersion"] = "rbac.authorization.k8s.io/v1".into();
        let writing = Writing {
            manager: "kube-apiserver",
            ..writing(cluster, &resource, "")
        };
        if let Err(error) = writing.create(object) {
            tracing::debug!(%error, "a standard role could not be created");
        }
    }
}
