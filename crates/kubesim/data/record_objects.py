#!/usr/bin/env python3
"""Writes objects.json: what a real API server makes of good and bad objects.

Usage: record_objects.py URL TOKEN > objects.json

Every case below is sent to a real server of the version that the simulator follows. Creates are
dry runs; updates create the object, try the change as a dry run, and delete the object. The reply
is kept without what differs from run to run. `src/builtin/recorded.rs` holds the simulator to it.
"""

import copy
import json
import ssl
import sys
import urllib.error
import urllib.request

URL, TOKEN = sys.argv[1], sys.argv[2]
CONTEXT = ssl._create_unverified_context()


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, context=CONTEXT) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        return json.load(error)


KINDS = {
    # kind: (group, version, plural, namespaced)
    "Namespace": ("", "v1", "namespaces", False),
    "ConfigMap": ("", "v1", "configmaps", True),
    "Secret": ("", "v1", "secrets", True),
    "ServiceAccount": ("", "v1", "serviceaccounts", True),
    "Service": ("", "v1", "services", True),
    "Pod": ("", "v1", "pods", True),
    "Node": ("", "v1", "nodes", False),
    "PersistentVolumeClaim": ("", "v1", "persistentvolumeclaims", True),
    "PersistentVolume": ("", "v1", "persistentvolumes", False),
    "LimitRange": ("", "v1", "limitranges", True),
    "ResourceQuota": ("", "v1", "resourcequotas", True),
    "ReplicationController": ("", "v1", "replicationcontrollers", True),
    "Event": ("", "v1", "events", True),
    "Deployment": ("apps", "v1", "deployments", True),
    "ReplicaSet": ("apps", "v1", "replicasets", True),
    "StatefulSet": ("apps", "v1", "statefulsets", True),
    "DaemonSet": ("apps", "v1", "daemonsets", True),
    "Job": ("batch", "v1", "jobs", True),
    "CronJob": ("batch", "v1", "cronjobs", True),
    "StorageClass": ("storage.k8s.io", "v1", "storageclasses", False),
    "Ingress": ("networking.k8s.io", "v1", "ingresses", True),
    "IngressClass": ("networking.k8s.io", "v1", "ingressclasses", False),
    "NetworkPolicy": ("networking.k8s.io", "v1", "networkpolicies", True),
    "PodDisruptionBudget": ("policy", "v1", "poddisruptionbudgets", True),
    "HorizontalPodAutoscaler": ("autoscaling", "v2", "horizontalpodautoscalers", True),
    "Role": ("rbac.authorization.k8s.io", "v1", "roles", True),
    "ClusterRole": ("rbac.authorization.k8s.io", "v1", "clusterroles", False),
    "RoleBinding": ("rbac.authorization.k8s.io", "v1", "rolebindings", True),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io", "v1", "clusterrolebindings", False),
    "Lease": ("coordination.k8s.io", "v1", "leases", True),
    "EndpointSlice": ("discovery.k8s.io", "v1", "endpointslices", True),
    "PriorityClass": ("scheduling.k8s.io", "v1", "priorityclasses", False),
    "CustomResourceDefinition": ("apiextensions.k8s.io", "v1", "customresourcedefinitions", False),
    "RuntimeClass": ("node.k8s.io", "v1", "runtimeclasses", False),
}

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x:1"}]}}
SELECTOR = {"matchLabels": {"a": "b"}}
ROLE_GROUP = "rbac.authorization.k8s.io"
CRD_SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {"size": {"type": "integer", "default": 1}, "name": {"type": "string"}},
        }
    },
}
GOOD = {
    "Namespace": {},
    "ConfigMap": {"data": {"k": "v"}, "binaryData": {"b": "AAE="}},
    "Secret": {"stringData": {"k": "v"}, "data": {"d": "AAE="}},
    "ServiceAccount": {},
    "Service": {"spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}},
    "Pod": {"spec": TEMPLATE["spec"]},
    "Node": {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}, "status": {"capacity": {"cpu": "4", "memory": "1024Mi"}}},
    "PersistentVolumeClaim": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}},
    "PersistentVolume": {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
    "LimitRange": {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}},
    "ResourceQuota": {"spec": {"hard": {"pods": "10"}}},
    "ReplicationController": {"spec": {"template": TEMPLATE}},
    "Event": {"involvedObject": {"kind": "Pod", "namespace": "default", "name": "x"}, "reason": "R", "message": "m", "type": "Normal"},
    "Deployment": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "ReplicaSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "StatefulSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE, "serviceName": "s"}},
    "DaemonSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "Job": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}}},
    "CronJob": {"spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}}}}},
    "StorageClass": {"provisioner": "x.io/p"},
    "Ingress": {"spec": {"rules": [{"host": "a.b", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}},
    "IngressClass": {"spec": {"controller": "x.io/c"}},
    "NetworkPolicy": {"spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}], "from": [{"podSelector": {"matchLabels": {"a": "b"}}}]}]}},
    "PodDisruptionBudget": {"spec": {"minAvailable": 1, "selector": SELECTOR}},
    "HorizontalPodAutoscaler": {"spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}},
    "Role": {"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]},
    "ClusterRole": {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz"]}]},
    "RoleBinding": {"roleRef": {"kind": "Role", "name": "r", "apiGroup": ROLE_GROUP}, "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "default"}]},
    "ClusterRoleBinding": {"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "Group", "name": "g"}]},
    "Lease": {"spec": {"holderIdentity": "h", "leaseDurationSeconds": 15, "renewTime": "2026-01-02T03:04:05.500000Z"}},
    "EndpointSlice": {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"port": 80}]},
    "PriorityClass": {"value": 10},
    "CustomResourceDefinition": {
        "metadata": {"name": "things.x.io"},
        "spec": {"group": "x.io", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"}, "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": CRD_SCHEMA}}]},
    },
    "RuntimeClass": {"handler": "h"},
}

# kind: [(path, value)]; a value of None removes the field. Numbers index lists.
BAD = {
    "Namespace": [("metadata.name", "A_b"), ("metadata.labels", {"a/b/c": "x"}), ("metadata.labels", {"k": "-"}), ("metadata.annotations", {"": "x"}), ("metadata.finalizers", ["x y"])],
    "ConfigMap": [("metadata.name", "A_b"), ("data", {"a b": "x"}), ("data", {"..": "x"}), ("data", {"b": "x"}), ("data", {}), ("data", None), ("metadata.name", None), ("metadata.labels", {}), ("metadata.ownerReferences", [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]), ("metadata.ownerReferences", [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1", "controller": True}, {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "2", "controller": True}]), ("metadata.finalizers", ["orphan", "foregroundDeletion"]), ("data", {"k": 1}), ("data", "x"), ("binaryData", {"b": "!"}), ("immutable", "yes"), ("metadata.labels", {"x": "a" * 70}), ("metadata.generateName", "X-")],
    "Secret": [("data", {"a b": "AA=="}), ("type", "kubernetes.io/tls"), ("type", "kubernetes.io/basic-auth"), ("type", "kubernetes.io/ssh-auth"), ("type", "kubernetes.io/dockerconfigjson"), ("type", "kubernetes.io/service-account-token"), ("type", "my/type"), ("stringData", {"d": "over"}), ("data", {"x": "???"})],
    "ServiceAccount": [("metadata.name", "a/b"), ("automountServiceAccountToken", False)],
    "Service": [("metadata.name", "1a"), ("metadata.name", "a.b"), ("metadata.name", "Bad"), ("spec.ports", None), ("spec.ports", [{"port": 0}]), ("spec.ports", [{"port": 80}, {"port": 81}]), ("spec.ports", [{"name": "a", "port": 80}, {"name": "a", "port": 81}]), ("spec.ports", [{"port": 80, "protocol": "X"}]), ("spec.ports", [{"port": 80, "targetPort": "a--b"}]), ("spec.type", "Foo"), ("spec.type", "ExternalName"), ("spec.type", "NodePort"), ("spec.type", "LoadBalancer"), ("spec.clusterIP", "None"), ("spec.clusterIP", "x"), ("spec.clusterIP", "1.2.3.4"), ("spec.sessionAffinity", "ClientIP"), ("spec.sessionAffinity", "X"), ("spec.selector", {"a": "b c"}), ("spec.ports.0.nodePort", 30001), ("spec.externalIPs", ["1.2.3.4"]), ("spec.ports.0.port", "80"), ("spec.internalTrafficPolicy", "X"), ("spec.ports", [{"name": "a", "port": 80}, {"name": "b", "port": 80}])],
    "Pod": [
        ("spec.containers", []), ("spec.containers", None), ("spec.containers.0.name", None), ("spec.containers.0.name", "A"), ("spec.containers.0.image", None), ("spec.containers.0.image", "x"), ("spec.containers.0.image", "r:5000/x@sha256:" + "a" * 64),
        ("spec.containers.0.imagePullPolicy", "X"), ("spec.restartPolicy", "X"), ("spec.dnsPolicy", "X"), ("spec.containers.0.ports", [{"containerPort": 0}]), ("spec.containers.0.ports", [{"containerPort": 80, "name": "UP"}]), ("spec.containers.0.ports", [{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]), ("spec.containers.0.ports", [{"containerPort": 70000}]), ("spec.containers.0.ports", [{"containerPort": 80, "protocol": "tcp"}]),
        ("spec.containers.0.env", [{"value": "x"}]), ("spec.containers.0.env", [{"name": "a=b", "value": "x"}]), ("spec.containers.0.env", [{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]), ("spec.containers.0.env", [{"name": "A", "valueFrom": {}}]), ("spec.containers.0.env", [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s"}}}]), ("spec.containers.0.env", [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]), ("spec.containers.0.env", [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]), ("spec.containers.0.envFrom", [{}]), ("spec.containers.0.envFrom", [{"configMapRef": {"name": "x"}}]),
        ("spec.containers.0.volumeMounts", [{"name": "v", "mountPath": "/x"}]), ("spec.volumes", [{"name": "v"}]), ("spec.volumes", [{"name": "V", "emptyDir": {}}]), ("spec.volumes", [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]), ("spec.volumes", [{"name": "v", "secret": {}}]), ("spec.volumes", [{"name": "v", "secret": {"secretName": "s"}}, {"name": "c", "configMap": {"name": "c", "items": [{"key": "k", "path": "../x"}]}}]), ("spec.volumes", [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]), ("spec.volumes", [{"name": "v", "hostPath": {"path": "/x"}}]), ("spec.volumes", [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]), ("spec.volumes", [{"name": "v", "persistentVolumeClaim": {}}]),
        ("spec.containers.0.resources", {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}), ("spec.containers.0.resources", {"limits": {"cpu": "0.5", "memory": "1024Mi"}}), ("spec.containers.0.resources", {"requests": {"cpu": "-1"}}), ("spec.containers.0.resources", {"requests": {"foo": "1"}}), ("spec.containers.0.resources", {"requests": {"cpu": "abc"}}), ("spec.containers.0.resources", {"requests": {"cpu": 1, "memory": "1.5Gi"}}), ("spec.containers.0.resources", {"limits": {"x.io/gpu": "1.5"}, "requests": {"x.io/gpu": "1.5"}}),
        ("spec.containers.0.livenessProbe", {}), ("spec.containers.0.livenessProbe", {"httpGet": {"port": 80}}), ("spec.containers.0.livenessProbe", {"httpGet": {"port": "http"}, "exec": {"command": ["x"]}}), ("spec.containers.0.livenessProbe", {"tcpSocket": {"port": 0}}), ("spec.containers.0.livenessProbe", {"exec": {"command": []}}), ("spec.containers.0.livenessProbe", {"exec": {"command": ["x"]}, "successThreshold": 2, "periodSeconds": -1}), ("spec.containers.0.readinessProbe", {"grpc": {"port": 9}}), ("spec.containers.0.lifecycle", {"preStop": {"exec": {"command": ["x"]}}}),
        ("spec.initContainers", [{"name": "c", "image": "y"}]), ("spec.initContainers", [{"name": "i", "image": "y", "livenessProbe": {"exec": {"command": ["x"]}}}]), ("spec.initContainers", [{"name": "i", "image": "y"}]), ("spec.terminationGracePeriodSeconds", -1), ("spec.activeDeadlineSeconds", 0), ("spec.nodeSelector", {"a": "b c"}), ("spec.serviceAccountName", "A"), ("spec.serviceAccount", "sa"), ("spec.hostname", "a.b"), ("spec.nodeName", "n1"), ("spec.tolerations", [{"operator": "Equal", "key": "a", "value": "b", "effect": "X"}]), ("spec.tolerations", [{"key": "a", "operator": "Exists", "value": "b"}]), ("spec.tolerations", [{"value": "x"}]), ("spec.hostNetwork", True), ("spec.priorityClassName", "A"), ("spec.enableServiceLinks", False), ("spec.containers.0.args", []), ("spec.containers.0.terminationMessagePolicy", "X"), ("spec.containers.0.securityContext", {"runAsUser": -1}), ("spec.containers.0.workingDir", ""), ("spec.replicas", 1), ("spec.containers", "x"), ("spec.containers.0.ports", [{"containerPort": "80"}]), ("spec.containers.0.env", [{"name": "A", "value": 1}]), ("spec.affinity", {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}), ("spec.topologySpreadConstraints", [{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "X"}]),
    ],
    "Node": [("metadata.name", "A"), ("spec.taints", [{"key": "a b", "effect": "X"}]), ("spec.taints", [{"key": "a"}]), ("spec.unschedulable", True), ("status", None)],
    "PersistentVolumeClaim": [("spec.accessModes", None), ("spec.accessModes", ["X"]), ("spec.resources", None), ("spec.resources.requests.storage", "0"), ("spec.storageClassName", "A"), ("spec.volumeMode", "X"), ("spec.accessModes", ["ReadWriteOncePod", "ReadWriteOnce"]), ("spec.storageClassName", "fast"), ("spec.resources.requests.storage", "-1")],
    "PersistentVolume": [("spec.capacity", None), ("spec.accessModes", None), ("spec.hostPath", None), ("spec.persistentVolumeReclaimPolicy", "X"), ("spec.capacity", {"cpu": "1"}), ("spec.volumeMode", "X")],
    "LimitRange": [("spec.limits.0.type", "Pod"), ("spec.limits.0.max.cpu", "-1"), ("spec.limits.0.min", {"cpu": "100m"})],
    "ResourceQuota": [("spec.hard", {"pods": "-1"}), ("spec.hard", {"requests.cpu": "1000m"})],
    "ReplicationController": [("spec.template", None), ("spec.replicas", -1)],
    "Event": [("involvedObject.namespace", "other"), ("involvedObject", {})],
    "Deployment": [("spec.selector", None), ("spec.selector", {}), ("spec.selector", {"matchLabels": {"x": "y"}}), ("spec.selector", {"matchExpressions": [{"key": "a", "operator": "In"}]}), ("spec.selector", {"matchExpressions": [{"key": "a", "operator": "X"}]}), ("spec.replicas", -1), ("spec.replicas", 0), ("spec.replicas", "1"), ("spec.strategy", {"type": "Recreate"}), ("spec.strategy", {"type": "Recreate", "rollingUpdate": {}}), ("spec.strategy", {"type": "X"}), ("spec.strategy", {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}), ("spec.strategy", {"rollingUpdate": {"maxUnavailable": "101%"}}), ("spec.strategy", {"rollingUpdate": {"maxUnavailable": "x"}}), ("spec.strategy", {"rollingUpdate": {"maxUnavailable": -1}}), ("spec.template.spec.restartPolicy", "Never"), ("spec.template.metadata", None), ("spec.template.metadata.labels", {"a": "c"}), ("spec.minReadySeconds", -1), ("spec.progressDeadlineSeconds", 0), ("spec.revisionHistoryLimit", -1), ("spec.template.spec.activeDeadlineSeconds", 5), ("spec.paused", False), ("spec.template", None), ("spec", None), ("metadata.name", "a b"), ("spec.template.spec.containers.0.image", " x")],
    "ReplicaSet": [("spec.selector", None), ("spec.selector", {}), ("spec.replicas", -1), ("spec.selector", {"matchLabels": {"x": "y"}}), ("spec.template", None)],
    "StatefulSet": [("spec.podManagementPolicy", "X"), ("spec.updateStrategy", {"type": "OnDelete"}), ("spec.updateStrategy", {"type": "X"}), ("spec.volumeClaimTemplates", [{"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]), ("spec.persistentVolumeClaimRetentionPolicy", {"whenDeleted": "X"}), ("metadata.name", "a.b"), ("spec.serviceName", None), ("spec.selector", None), ("spec.updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}}), ("spec.template.spec.restartPolicy", "Never")],
    "DaemonSet": [("spec.selector", None), ("spec.selector", {}), ("spec.updateStrategy", {"type": "OnDelete"}), ("spec.updateStrategy", {"type": "X"}), ("spec.updateStrategy", {"rollingUpdate": {"maxUnavailable": 0}}), ("spec.updateStrategy", {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}), ("spec.template.spec.restartPolicy", "Never"), ("spec.selector", {"matchLabels": {"x": "y"}})],
    "Job": [("spec.template.spec.restartPolicy", "Always"), ("spec.template.spec.restartPolicy", None), ("spec.parallelism", -1), ("spec.completions", 3), ("spec.parallelism", 3), ("spec.completionMode", "Indexed"), ("spec.completionMode", "X"), ("spec.backoffLimitPerIndex", 1), ("spec.manualSelector", True), ("spec.template.metadata", {"labels": {"x": "y"}}), ("spec.backoffLimit", -1), ("spec.podReplacementPolicy", "X")],
    "CronJob": [("spec.schedule", None), ("spec.schedule", "x"), ("spec.schedule", "* * * *"), ("spec.schedule", "TZ=UTC * * * * *"), ("spec.concurrencyPolicy", "X"), ("metadata.name", "a" * 53), ("spec.timeZone", ""), ("spec.schedule", "@hourly"), ("spec.schedule", "61 * * * *"), ("spec.startingDeadlineSeconds", -1), ("spec.jobTemplate.spec.manualSelector", True)],
    "StorageClass": [("provisioner", None), ("reclaimPolicy", "X"), ("volumeBindingMode", "X"), ("provisioner", "a b")],
    "Ingress": [("spec.rules", None), ("spec.rules.0.host", "1.2.3.4"), ("spec.rules.0.host", "*.a"), ("spec.rules.0.host", "a_b"), ("spec.rules.0.http.paths.0.pathType", None), ("spec.rules.0.http.paths.0.pathType", "X"), ("spec.rules.0.http.paths.0.path", "x"), ("spec.rules.0.http.paths.0.path", "/a//b"), ("spec.rules.0.http.paths.0.backend", {}), ("spec.rules.0.http.paths.0.backend.service.port", {}), ("spec.rules.0.http.paths.0.backend.service.port", {"name": "http"}), ("spec.rules.0.http.paths", []), ("spec.ingressClassName", "A"), ("spec.rules.0.http.paths.0.backend.service.name", "A_b"), ("spec.tls", [{"hosts": ["a.b"], "secretName": "s"}])],
    "IngressClass": [("spec.parameters", {"kind": "K", "name": "n"}), ("spec.controller", "")],
    "NetworkPolicy": [("spec.policyTypes", ["X"]), ("spec.egress", [{}]), ("spec.ingress.0.ports.0.port", 0), ("spec.ingress.0.ports.0.protocol", "X"), ("spec.ingress.0.from", [{}]), ("spec.ingress.0.from", [{"ipBlock": {"cidr": "x"}}]), ("spec.ingress.0.from", [{"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}]), ("spec.ingress.0.ports.0.endPort", 70), ("spec.podSelector", {"matchExpressions": [{"key": "a", "operator": "X"}]}), ("spec.policyTypes", ["Ingress", "Egress", "Ingress"])],
    "PodDisruptionBudget": [("spec.maxUnavailable", 1), ("spec.minAvailable", "101%"), ("spec.minAvailable", "x"), ("spec.minAvailable", -1), ("spec.selector", None), ("spec.unhealthyPodEvictionPolicy", "X")],
    "HorizontalPodAutoscaler": [("spec.maxReplicas", 0), ("spec.minReplicas", 5), ("spec.minReplicas", 0), ("spec.scaleTargetRef", {}), ("spec.behavior", {}), ("spec.metrics", [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}])],
    "Role": [("rules", [{"verbs": []}]), ("rules", [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]), ("rules", None), ("metadata.name", "a:b"), ("metadata.name", "a/b"), ("rules", [])],
    "ClusterRole": [("rules", [{"verbs": ["get"]}]), ("rules", [{"verbs": ["get"], "apiGroups": [""], "resources": ["x"], "nonResourceURLs": ["/x"]}]), ("aggregationRule", {}), ("rules", None)],
    "RoleBinding": [("roleRef", {"kind": "X", "name": "", "apiGroup": "x"}), ("subjects", [{"kind": "X", "name": "n"}]), ("subjects", [{"kind": "User", "name": ""}]), ("subjects", [{"kind": "ServiceAccount", "name": "A"}]), ("subjects", [{"kind": "User", "name": "u", "apiGroup": "x"}]), ("roleRef", None), ("subjects", None)],
    "ClusterRoleBinding": [("roleRef.kind", "Role"), ("subjects", [{"kind": "ServiceAccount", "name": "s"}])],
    "Lease": [("spec.leaseDurationSeconds", 0), ("spec.leaseTransitions", -1), ("spec", {})],
    "EndpointSlice": [("addressType", None), ("addressType", "X"), ("endpoints.0.addresses", []), ("endpoints.0.addresses", ["x"]), ("endpoints.0.addresses", ["::1"]), ("ports", [{"port": 80, "protocol": "X"}]), ("ports", [{"port": 80}, {"port": 81}]), ("endpoints", None)],
    "PriorityClass": [("value", 2000000000), ("metadata.name", "system-x"), ("preemptionPolicy", "X")],
    "CustomResourceDefinition": [
        ("metadata.name", "x"), ("spec.group", "x"), ("spec.group", None), ("spec.scope", "X"), ("spec.scope", None), ("spec.names.plural", "A"), ("spec.names.kind", None), ("spec.versions.0.storage", False), ("spec.versions", []), ("spec.versions.0.name", "A"), ("spec.versions.0.schema", None), ("spec.names.listKind", "Thing"), ("spec.names.shortNames", ["A"]), ("spec.preserveUnknownFields", True),
        ("spec.versions.0.schema.openAPIV3Schema", {}), ("spec.versions.0.schema.openAPIV3Schema", {"type": "string"}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec", {}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec", {"type": "array"}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size.default", "x"), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size.type", "float"), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.l", {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.l", {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.l", {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.l", {"type": "string", "x-kubernetes-list-type": "atomic"}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.l", {"type": "array", "items": {"type": "string"}, "uniqueItems": True}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.o", {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.o", {"x-kubernetes-int-or-string": True}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.o", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.anyOf", [{"type": "object"}]), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.o", {"type": "string", "pattern": "["}), ("spec.versions.0.schema.openAPIV3Schema.properties.metadata", {"type": "object", "properties": {"labels": {"type": "object"}}}), ("spec.versions.0.schema.openAPIV3Schema.nullable", True), ("spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.e", {"type": "object", "x-kubernetes-embedded-resource": True}),
        ("spec.versions.0.additionalPrinterColumns", [{"name": "A", "type": "x", "jsonPath": ".spec"}]), ("spec.versions.0.additionalPrinterColumns", [{"name": "A", "type": "string", "jsonPath": ".spec.name"}]), ("spec.versions.0.subresources", {"status": {}, "scale": {"specReplicasPath": ".x", "statusReplicasPath": ".status.replicas"}}), ("spec.versions.0.subresources", {"status": {}}), ("spec.versions.0.deprecationWarning", "x"), ("spec.conversion", {"strategy": "X"}), ("spec.conversion", {"strategy": "Webhook"}), ("spec.names.singular", "th"),
    ],
    "RuntimeClass": [("handler", None), ("handler", "A_b"), ("metadata.name", "X")],
}

# kind: [(path, value)] tried on an object that exists.
CHANGES = {
    "ConfigMap": [("data.k", "w"), ("metadata.labels", {"a": "b c"}), ("immutable", True)],
    "Secret": [("type", "x"), ("data", {"e": "AA=="})],
    "Service": [("spec.clusterIP", "10.96.0.77"), ("spec.type", "NodePort"), ("spec.ports.0.port", 81), ("spec.selector", {"x": "y"})],
    "Pod": [("spec.containers.0.image", "y"), ("metadata.labels", {"a": "b"}), ("spec.containers.0.imagePullPolicy", "Never"), ("spec.activeDeadlineSeconds", 5)],
    "Deployment": [("spec.replicas", 3), ("spec.selector.matchLabels", {"x": "y"}), ("spec.template.metadata.labels", {"a": "b", "c": "d"}), ("metadata.labels", {"a": "b"}), ("status", {"replicas": 3})],
    "ReplicaSet": [("spec.replicas", 3), ("spec.selector.matchLabels", {"x": "y"})],
    "StatefulSet": [("spec.replicas", 3), ("spec.serviceName", "t"), ("spec.selector.matchLabels", {"x": "y"})],
    "DaemonSet": [("spec.selector.matchLabels", {"x": "y"}), ("spec.minReadySeconds", 3)],
    "Job": [("spec.template.spec.containers.0.image", "y"), ("spec.completions", 2), ("spec.parallelism", 2), ("spec.completionMode", "Indexed")],
    "CronJob": [("spec.schedule", "@daily")],
    "PersistentVolumeClaim": [("spec.accessModes", ["ReadWriteMany"]), ("spec.resources.requests.storage", "2Gi"), ("spec.volumeName", "v")],
    "PersistentVolume": [("spec.hostPath.path", "/y"), ("spec.capacity.storage", "2Gi"), ("spec.volumeMode", "Block")],
    "StorageClass": [("provisioner", "y.io/p"), ("reclaimPolicy", "Retain"), ("allowVolumeExpansion", True)],
    "RoleBinding": [("roleRef.name", "x"), ("subjects", [])],
    "ClusterRoleBinding": [("roleRef.name", "x")],
    "EndpointSlice": [("addressType", "IPv6"), ("endpoints", [])],
    "PriorityClass": [("value", 11), ("description", "d")],
    "IngressClass": [("spec.controller", "y.io/c")],
    "Ingress": [("spec.rules.0.host", "b.c")],
    "NetworkPolicy": [("spec.podSelector", {"matchLabels": {"a": "b"}})],
    "PodDisruptionBudget": [("spec.minAvailable", 2)],
    "HorizontalPodAutoscaler": [("spec.maxReplicas", 5)],
    "Lease": [("spec.holderIdentity", "i")],
}


def with_change(thing, path, value):
    thing = copy.deepcopy(thing)
    at, steps = thing, [int(s) if s.isdigit() else s for s in path.split(".")]
    for step in steps[:-1]:
        at = at.setdefault(step, {}) if isinstance(at, dict) else at[step]
    if value is None:
        at.pop(steps[-1], None)
    else:
        at[steps[-1]] = value
    return thing


def good(kind):
    group, version, plural, namespaced = KINDS[kind]
    thing = {"apiVersion": f"{group}/{version}".lstrip("/"), "kind": kind, "metadata": {"name": "case"}}
    thing.update(copy.deepcopy(GOOD[kind]))
    return thing


def folder(kind):
    group, version, plural, namespaced = KINDS[kind]
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return root + ("/namespaces/default/" if namespaced else "/") + plural


def title(kind, path, value):
    return f"{kind} {path} {json.dumps(value)[:60]}" if path else kind


def normal(reply):
    if reply.get("kind") == "Status" and reply.get("status") == "Failure":
        causes = reply.get("details", {}).get("causes")
        kept = {"message": reply["message"], "code": reply["code"]}
        if causes:
            kept["causes"] = sorted({(c.get("field", ""), c.get("reason", ""), c["message"]) for c in causes})
        return kept
    for name in ("uid", "creationTimestamp", "managedFields", "resourceVersion", "namespace", "selfLink"):
        reply.get("metadata", {}).pop(name, None)
    return {"object": reply}


def main():
    cases = []
    for kind in KINDS:
        group, version, plural, namespaced = KINDS[kind]
        base = {"group": group, "version": version, "kind": kind, "namespaced": namespaced}
        for path, value in [("", None)] + BAD.get(kind, []):
            given = with_change(good(kind), path, value) if path else good(kind)
            reply = call("POST", folder(kind) + "?dryRun=All", given)
            cases.append({"name": title(kind, path, value), **base, "given": given, "reply": normal(reply)})
        if kind not in CHANGES:
            continue
        name = good(kind)["metadata"]["name"]
        for path, value in CHANGES[kind]:
            created = call("POST", folder(kind), good(kind))
            changed = with_change(created, path, value)
            changed["metadata"].pop("managedFields", None)
            reply = call("PUT", f"{folder(kind)}/{name}?dryRun=All", changed)
            call("DELETE", f"{folder(kind)}/{name}?gracePeriodSeconds=0&propagationPolicy=Background")
            created["metadata"].pop("managedFields", None)
            cases.append({"name": "change " + title(kind, path, value), **base, "old": created, "given": changed, "reply": normal(reply)})
            remove_finalizers(folder(kind) + "/" + name)
    print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")


def remove_finalizers(path):
    found = call("GET", path)
    if found.get("kind") != "Status":
        found["metadata"]["finalizers"] = []
        call("PUT", path, found)


if __name__ == "__main__":
    main()
