//! How the operator gets into a cluster: definitions, rights, and the operator itself.

use evenkeel_controller::Manager;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Options, with_controllers};
use crate::api::crds;

/// Where and from what the operator is run.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The namespace; it is made too.
    pub namespace: String,
    /// The image of Evenkeel.
    pub image: String,
    /// How many processes; one leads.
    pub replicas: u32,
}

const NAME: &str = "evenkeel-agent-operator";
/// Where health and metrics are shown.
const VITALS: u16 = 8080;

impl Installation {
    /// Everything that is to be applied, in order. `manager` is only asked for the rights that the
    /// controllers need.
    pub fn manifests(&self, manager: Manager) -> Vec<Value> {
        let manager = with_controllers(manager, Options::default());
        let role = value(&manager.rights().role(NAME));
        let definitions = crds::all();
        let definitions = definitions.iter().map(value);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": self.namespace}});
        let objects = [namespace, self.account(), role, self.binding()];
        let running = [self.lease_role(), self.lease_binding(), self.deployment()];
        definitions.chain(objects).chain(running).collect()
    }

    fn metadata(&self) -> Value {
        json!({"name": NAME, "namespace": self.namespace,
            "labels": {"app.kubernetes.io/name": NAME}})
    }

    fn account(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": self.metadata()})
    }

    fn subject(&self) -> Value {
        json!([{"kind": "ServiceAccount", "name": NAME, "namespace": self.namespace}])
    }

    fn binding(&self) -> Value {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": NAME},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
            "subjects": self.subject(),
        })
    }

    /// Leading is a matter of the operator's own namespace.
    fn lease_role(&self) -> Value {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": self.metadata(),
            "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
                "verbs": ["get", "create", "update"]}],
        })
    }

    fn lease_binding(&self) -> Value {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": self.metadata(),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME},
            "subjects": self.subject(),
        })
    }

    fn deployment(&self) -> Value {
        let labels = json!({"app.kubernetes.io/name": NAME});
        let asked = |path: &str| json!({"httpGet": {"path": path, "port": "vitals"}});
        let container = json!({
            "name": "operator", "image": self.image,
            // Where it may hold a lease: see `lease_role`.
            "args": ["operator", "--only", "agent", "--lease", format!("{}/{NAME}", self.namespace),
                "--vitals", format!("0.0.0.0:{VITALS}")],
            "ports": [{"name": "vitals", "containerPort": VITALS}],
            "livenessProbe": asked("/healthz"), "readinessProbe": asked("/readyz"),
            "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
            "securityContext": {
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": {"drop": ["ALL"]},
            },
        });
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata(),
            "spec": {
                "replicas": self.replicas,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "serviceAccountName": NAME,
                        "securityContext": {"runAsNonRoot": true,
                            "seccompProfile": {"type": "RuntimeDefault"}},
                        "containers": [container],
                    },
                },
            },
        })
    }
}

fn value<T: Serialize>(object: &T) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}
