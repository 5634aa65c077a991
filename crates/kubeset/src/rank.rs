//! In which order kinds are made; deletes go the other way round.

use evenkeel_reconcile::Rank;

use crate::key::GroupKind;

/// Namespaces and definitions come first, since others need them to be validated at all.
pub(crate) const FIRST: Rank = Rank(0);

/// The place of a kind in the order of work. What is not listed is a custom or rare kind, which
/// may need any built-in one but intercepts nobody's requests.
pub(crate) fn rank(kind: &GroupKind) -> Rank {
    if kind.is_namespace() || kind.is_definition() {
        return FIRST;
    }
    Rank(match (kind.group.as_str(), kind.kind.as_str()) {
        ("scheduling.k8s.io" | "storage.k8s.io" | "node.k8s.io", _) => 1,
        ("networking.k8s.io", "IngressClass") | ("gateway.networking.k8s.io", "GatewayClass") => 1,
        ("", "ResourceQuota" | "LimitRange")
        | ("policy", _)
        | ("networking.k8s.io", "NetworkPolicy") => 2,
        ("", "ServiceAccount") => 3,
        ("rbac.authorization.k8s.io", "ClusterRole" | "Role") => 3,
        ("rbac.authorization.k8s.io", _) => 4,
        ("", "Secret" | "ConfigMap" | "PersistentVolume") => 4,
        ("", "PersistentVolumeClaim" | "Service") => 5,
        ("", "Pod" | "ReplicationController") | ("apps", _) => 6,
        ("batch", _) => 7,
        ("autoscaling", _) | ("networking.k8s.io", _) => 8,
        ("apiregistration.k8s.io", _) => 10,
        ("admissionregistration.k8s.io", _) => 11,
        _ => 9,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_after_what_they_need_and_webhooks_last() {
        let order = [
            GroupKind::new("", "Namespace"),
            GroupKind::new("", "ServiceAccount"),
            GroupKind::new("rbac.authorization.k8s.io", "RoleBinding"),
            GroupKind::new("", "Service"),
            GroupKind::new("apps", "Deployment"),
            GroupKind::new("autoscaling", "HorizontalPodAutoscaler"),
            GroupKind::new("example.com", "Anything"),
            GroupKind::new(
                "admissionregistration.k8s.io",
                "ValidatingWebhookConfiguration",
            ),
        ];
        assert!(order.iter().map(rank).is_sorted_by(|one, next| one < next));
        assert_eq!(
            rank(&GroupKind::new(
                "apiextensions.k8s.io",
                "CustomResourceDefinition"
            )),
            FIRST
        );
    }
}
