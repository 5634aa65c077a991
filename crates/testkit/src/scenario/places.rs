//! Short names of resources, so that scenarios are short to write and to read.

/// A resource that scenarios name in short.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    short: &'static str,
    /// The collection; `{{ns}}` is still to be replaced.
    path: &'static str,
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
}

macro_rules! places {
    ($($short:literal $path:literal $api_version:literal $kind:literal)*) => {
        const PLACES: &[Place] = &[$(Place {
            short: $short, path: $path, api_version: $api_version, kind: $kind,
        }),*];
    };
}

places! {
    "cm" "/api/v1/namespaces/{{ns}}/configmaps" "v1" "ConfigMap"
    "secret" "/api/v1/namespaces/{{ns}}/secrets" "v1" "Secret"
    "sa" "/api/v1/namespaces/{{ns}}/serviceaccounts" "v1" "ServiceAccount"
    "svc" "/api/v1/namespaces/{{ns}}/services" "v1" "Service"
    "pod" "/api/v1/namespaces/{{ns}}/pods" "v1" "Pod"
    "pvc" "/api/v1/namespaces/{{ns}}/persistentvolumeclaims" "v1" "PersistentVolumeClaim"
    "event" "/api/v1/namespaces/{{ns}}/events" "v1" "Event"
    "quota" "/api/v1/namespaces/{{ns}}/resourcequotas" "v1" "ResourceQuota"
    "limits" "/api/v1/namespaces/{{ns}}/limitranges" "v1" "LimitRange"
    "ns" "/api/v1/namespaces" "v1" "Namespace"
    "node" "/api/v1/nodes" "v1" "Node"
    "pv" "/api/v1/persistentvolumes" "v1" "PersistentVolume"
    "deploy" "/apis/apps/v1/namespaces/{{ns}}/deployments" "apps/v1" "Deployment"
    "rs" "/apis/apps/v1/namespaces/{{ns}}/replicasets" "apps/v1" "ReplicaSet"
    "sts" "/apis/apps/v1/namespaces/{{ns}}/statefulsets" "apps/v1" "StatefulSet"
    "ds" "/apis/apps/v1/namespaces/{{ns}}/daemonsets" "apps/v1" "DaemonSet"
    "job" "/apis/batch/v1/namespaces/{{ns}}/jobs" "batch/v1" "Job"
    "cronjob" "/apis/batch/v1/namespaces/{{ns}}/cronjobs" "batch/v1" "CronJob"
    "ing" "/apis/networking.k8s.io/v1/namespaces/{{ns}}/ingresses" "networking.k8s.io/v1" "Ingress"
    "netpol" "/apis/networking.k8s.io/v1/namespaces/{{ns}}/networkpolicies" "networking.k8s.io/v1" "NetworkPolicy"
    "pdb" "/apis/policy/v1/namespaces/{{ns}}/poddisruptionbudgets" "policy/v1" "PodDisruptionBudget"
    "hpa" "/apis/autoscaling/v2/namespaces/{{ns}}/horizontalpodautoscalers" "autoscaling/v2" "HorizontalPodAutoscaler"
    "role" "/apis/rbac.authorization.k8s.io/v1/namespaces/{{ns}}/roles" "rbac.authorization.k8s.io/v1" "Role"
    "rolebinding" "/apis/rbac.authorization.k8s.io/v1/namespaces/{{ns}}/rolebindings" "rbac.authorization.k8s.io/v1" "RoleBinding"
    "clusterrole" "/apis/rbac.authorization.k8s.io/v1/clusterroles" "rbac.authorization.k8s.io/v1" "ClusterRole"
    "clusterrolebinding" "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings" "rbac.authorization.k8s.io/v1" "ClusterRoleBinding"
    "lease" "/apis/coordination.k8s.io/v1/namespaces/{{ns}}/leases" "coordination.k8s.io/v1" "Lease"
    "eps" "/apis/discovery.k8s.io/v1/namespaces/{{ns}}/endpointslices" "discovery.k8s.io/v1" "EndpointSlice"
    "sc" "/apis/storage.k8s.io/v1/storageclasses" "storage.k8s.io/v1" "StorageClass"
    "pc" "/apis/scheduling.k8s.io/v1/priorityclasses" "scheduling.k8s.io/v1" "PriorityClass"
    "crd" "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" "apiextensions.k8s.io/v1" "CustomResourceDefinition"
    "widget" "/apis/example.com/v1/namespaces/{{ns}}/widgets" "example.com/v1" "Widget"
    "widget2" "/apis/example.com/v2/namespaces/{{ns}}/widgets" "example.com/v2" "Widget"
    "gadget" "/apis/example.com/v1/gadgets" "example.com/v1" "Gadget"
    "loose" "/apis/example.com/v1/namespaces/{{ns}}/looses" "example.com/v1" "Loose"
    "budget" "/apis/example.com/v1/namespaces/{{ns}}/budgets" "example.com/v1" "Budget"
    "ruled" "/apis/example.com/v1/namespaces/{{ns}}/ruleds" "example.com/v1" "Ruled"
    "own" "/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/things" "{{ns}}.example.com/v1" "Thing"
}

/// Splits a target into the place that it names in short (if it does) and its full form.
pub(super) fn expand(target: &str) -> (Option<&'static Place>, String) {
    if target.starts_with('/') {
        return (None, target.to_owned());
    }
    let end = target.find(['/', '?']).unwrap_or(target.len());
    match PLACES.iter().find(|place| place.short == &target[..end]) {
        Some(place) => (Some(place), format!("{}{}", place.path, &target[end..])),
        None => (None, format!("/{target}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_become_paths() {
        let (place, path) = expand("cm/a?dryRun=All");
        assert_eq!(path, "/api/v1/namespaces/{{ns}}/configmaps/a?dryRun=All");
        assert_eq!(place.map(|place| place.kind), Some("ConfigMap"));
        assert_eq!(expand("/version"), (None, "/version".to_owned()));
    }
}
