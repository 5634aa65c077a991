//! What is in every cluster, and in every namespace, from the start.

use serde_json::{Value, json};

use super::{MANAGER, SERVER, custom, writing};
use crate::cluster::Cluster;
use crate::store::Key;
use crate::verbs::Writing;

/// The namespaces that a cluster begins with.
const NAMESPACES: &[&str] = &["default", "kube-node-lease", "kube-public", "kube-system"];

/// Nothing signs anything here.
const ROOT_CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";

impl Cluster {
    /// Takes up what the store holds, and adds what every cluster has.
    pub(crate) fn found(&self) {
        custom::restore(self);
        self.note_owners();
        for name in NAMESPACES {
            let namespace =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            provide(self, "namespaces", &Key::cluster(name), namespace, SERVER);
        }
        self.settle();
        let service = Key::namespaced("default", "kubernetes");
        provide(self, "services", &service, api_service(), SERVER);
    }

    fn note_owners(&self) {
        let store = self.store();
        for resource in store.resources() {
            for (key, object) in &store.snapshot(&resource).objects {
                self.housekeeping().owners.note(&resource, key, object);
            }
        }
    }
}

/// Adds what every namespace has.
pub(super) fn furnish(cluster: &Cluster, namespace: &str) {
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": namespace},
    });
    let certificate = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "kube-root-ca.crt",
            "namespace": namespace,
            "annotations": {
                "kubernetes.io/description": "Contains a CA bundle that can be used to verify the \
                    kube-apiserver when using internal endpoints such as the internal service IP \
                    or kubernetes.default.svc. No other usage is guaranteed across distributions \
                    of Kubernetes clusters.",
            },
        },
        "data": {"ca.crt": ROOT_CERTIFICATE},
    });
    let key = |name| Key::namespaced(namespace, name);
    provide(
        cluster,
        "serviceaccounts",
        &key("default"),
        account,
        MANAGER,
    );
    provide(
        cluster,
        "configmaps",
        &key("kube-root-ca.crt"),
        certificate,
        MANAGER,
    );
}

fn api_service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": "10.96.0.1",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    })
}

/// Creates an object of the core group, unless it is there.
fn provide(cluster: &Cluster, plural: &str, key: &Key, object: Value, manager: &str) {
    let Some(resource) = cluster.registry().find("", "v1", plural) else {
        return;
    };
    if cluster.store().get(&resource.stored, key).is_some() {
        return;
    }
    let writing = Writing {
        manager,
        ..writing(cluster, &resource, "")
    };
    if let Err(error) = writing.create(object) {
        tracing::debug!(%key, %error, "a standard object could not be created");
    }
}
