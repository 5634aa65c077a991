//! A delivery of real size (150 objects with definitions, rights and webhooks), applied by
//! kubectl on both clusters: what kubectl says and what is there in the end must agree.

use std::path::Path;

use evenkeel_testkit::scenario::Normaliser;
use evenkeel_testkit::{Cluster, kubectl, note, skip};
use serde_json::{Value, json};

use crate::kubectl::similar;

const NAMESPACE: &str = "chart";
const GROUP: &str = "chart.example";

fn object(api_version: &str, kind: &str, name: &str, body: Value) -> Value {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    object["metadata"]["labels"] = json!({"app.kubernetes.io/part-of": "chart"});
    if let (Some(fields), Value::Object(body)) = (object.as_object_mut(), body) {
        fields.extend(body);
    }
    object
}

fn placed(api_version: &str, kind: &str, name: &str, body: Value) -> Value {
    let mut object = object(api_version, kind, name, body);
    object["metadata"]["namespace"] = NAMESPACE.into();
    object
}

/// The schema of a definition: as deep and as wide as those of large operators.
fn schema(depth: usize) -> Value {
    if depth == 0 {
        return json!({"type": "string", "maxLength": 63, "description": "A leaf."});
    }
    let fields = (0..4).map(|index| (format!("field{index}"), schema(depth - 1)));
    let mut properties: serde_json::Map<String, Value> = fields.collect();
    properties.insert(
        "ports".into(),
        json!({"type": "array", "maxItems": 8, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port"],
            "items": {"type": "object", "required": ["port"], "properties": {
                "port": {"type": "integer", "minimum": 1, "maximum": 65535},
                "name": {"type": "string", "maxLength": 15}}}}),
    );
    properties.insert(
        "replicas".into(),
        json!({"type": "integer", "default": 1, "minimum": 0}),
    );
    json!({"type": "object", "description": "A level.", "properties": properties})
}

fn definition(index: usize) -> Value {
    let (plural, kind) = (format!("part{index}s"), format!("Part{index}"));
    let mut spec = schema(4);
    spec["x-kubernetes-validations"] =
        json!([{"rule": "self.replicas <= 100", "message": "too many replicas"}]);
    let whole = json!({"type": "object", "properties": {
        "spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    let columns = json!([
        {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]);
    let version = json!({"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "additionalPrinterColumns": columns, "schema": {"openAPIV3Schema": whole}});
    let names = json!({"plural": plural, "singular": format!("part{index}"), "kind": kind});
    let spec =
        json!({"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]});
    let name = format!("{plural}.{GROUP}");
    object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &name,
        json!({"spec": spec}),
    )
}

fn template(name: &str) -> Value {
    let container = json!({"name": "main", "image": format!("example.com/{name}:1"),
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "resources": {"requests": {"cpu": "0.1", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/settings"}]});
    json!({"metadata": {"labels": {"app": name}}, "spec": {
        "serviceAccountName": name, "containers": [container],
        "volumes": [{"name": "settings", "configMap": {"name": name}}]}})
}

/// What belongs to one component.
fn component(name: &str) -> Vec<Value> {
    let labels = json!({"app": name});
    let selector = json!({"matchLabels": labels});
    let rules = json!([{"apiGroups": [GROUP], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [name], "verbs": ["get"]}]);
    let role =
        |kind: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let subjects = json!([{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}]);
    let rights = "rbac.authorization.k8s.io/v1";
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name});
    let deployment = json!({"replicas": 0, "selector": selector, "template": template(name)});
    let service = json!({"clusterIP": "None", "selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]});
    vec![
        placed("v1", "ServiceAccount", name, json!({})),
        placed(
            "v1",
            "ConfigMap",
            name,
            json!({"data": {"log": "info", "name": name}}),
        ),
        placed(
            "v1",
            "Secret",
            name,
            json!({"stringData": {"password": name}}),
        ),
        placed("v1", "Service", name, json!({"spec": service})),
        object(
            rights,
            "ClusterRole",
            &format!("chart-{name}"),
            json!({"rules": rules}),
        ),
        object(
            rights,
            "ClusterRoleBinding",
            &format!("chart-{name}"),
            json!({"roleRef": role("ClusterRole"), "subjects": subjects}),
        ),
        placed(rights, "Role", name, json!({"rules": rules})),
        placed(
            rights,
            "RoleBinding",
            name,
            json!({"roleRef": role("Role"), "subjects": subjects}),
        ),
        placed("apps/v1", "Deployment", name, json!({"spec": deployment})),
        placed(
            "policy/v1",
            "PodDisruptionBudget",
            name,
            json!({"spec": {"minAvailable": 1, "selector": selector}}),
        ),
        placed(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            name,
            json!({"spec": {"podSelector": selector, "policyTypes": ["Ingress"]}}),
        ),
        placed(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            name,
            json!({"spec": {"maxReplicas": 3, "scaleTargetRef": target}}),
        ),
    ]
}

fn webhook(kind: &str) -> Value {
    let service = json!({"namespace": NAMESPACE, "name": "api", "path": "/check"});
    let rule = json!({"apiGroups": [GROUP], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nothing"]});
    let hook = json!({"name": "check.chart.example", "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "failurePolicy": "Ignore", "clientConfig": {"service": service}, "rules": [rule]});
    let name = format!("chart-{}", kind.to_lowercase());
    object(
        "admissionregistration.k8s.io/v1",
        kind,
        &name,
        json!({"webhooks": [hook]}),
    )
}

/// Everything but the definitions.
fn delivery() -> Vec<Value> {
    let components = [
        "api", "web", "worker", "cache", "queue", "search", "mail", "audit", "proxy", "cron",
        "gate",
    ];
    let mut all: Vec<Value> = components.iter().flat_map(|name| component(name)).collect();
    let kinds = [
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    ];
    all.extend(kinds.map(webhook));
    all.push(object(
        "scheduling.k8s.io/v1",
        "PriorityClass",
        "chart-high",
        json!({"value": 1000}),
    ));
    all.push(object(
        "storage.k8s.io/v1",
        "StorageClass",
        "chart-fast",
        json!({"provisioner": "chart.example/disk"}),
    ));
    let rule = json!({"host": "chart.example", "http": {"paths": [{"path": "/", "pathType": "Prefix",
        "backend": {"service": {"name": "web", "port": {"name": "http"}}}}]}});
    all.push(placed(
        "networking.k8s.io/v1",
        "Ingress",
        "front",
        json!({"spec": {"rules": [rule]}}),
    ));
    let stateful = json!({"replicas": 0, "serviceName": "cache", "selector": {"matchLabels": {"app": "cache"}},
        "template": template("cache"), "volumeClaimTemplates": [{"metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]});
    all.push(placed(
        "apps/v1",
        "StatefulSet",
        "store",
        json!({"spec": stateful}),
    ));
    all.extend((0..6).map(|index| {
        let spec = json!({"field0": {"field1": {"ports": [{"port": 80}]}}, "replicas": index});
        let api_version = format!("{GROUP}/v1");
        placed(
            &api_version,
            &format!("Part{index}"),
            "one",
            json!({"spec": spec}),
        )
    }));
    all
}

fn write(path: &Path, objects: &[Value]) {
    let documents: Vec<String> = objects.iter().map(ToString::to_string).collect();
    std::fs::write(path, documents.join("\n---\n")).expect("write the manifests");
}

/// What kubectl says; `None` when there is no kubectl.
async fn said(cluster: &Cluster, words: &[&str]) -> Option<String> {
    let output = kubectl(cluster).await.args(words).output().await;
    let Ok(output) = output else {
        skip(&"no kubectl: `make testbed` builds one");
        return None;
    };
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{}: {words:?}: {error}",
        cluster.name()
    );
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &error)
}

/// Delivers everything twice and removes it; what kubectl said, and what was there.
async fn deliver(cluster: &Cluster) -> Option<(String, Vec<Value>)> {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let (first, rest) = (file("first.yaml"), file("rest.yaml"));
    let namespace = object("v1", "Namespace", NAMESPACE, json!({}));
    let definitions = (0..6).map(definition);
    write(
        Path::new(&first),
        &std::iter::once(namespace)
            .chain(definitions)
            .collect::<Vec<_>>(),
    );
    write(Path::new(&rest), &delivery());
    let mut story = said(cluster, &["apply", "-f", &first]).await?;
    said(
        cluster,
        &[
            "wait",
            "--for=condition=Established",
            "--timeout=60s",
            "crd",
            "--all",
        ],
    )
    .await?;
    story += &said(cluster, &["apply", "-f", &rest]).await?;
    story += &said(cluster, &["apply", "-f", &first, "-f", &rest]).await?;
    let get = [
        "get",
        "-f",
        &rest,
        "-f",
        &first,
        "-o",
        "json",
        "--show-managed-fields",
    ];
    let found: Value = serde_json::from_str(&said(cluster, &get).await?).expect("a list");
    story += &said(cluster, &["delete", "-f", &rest, "--wait=false"]).await?;
    story += &said(cluster, &["delete", "-f", &first, "--timeout=120s"]).await?;
    let objects = found["items"].as_array().cloned().unwrap_or_default();
    let normal = objects
        .into_iter()
        .map(|object| Normaliser::default().value(object));
    Some((story, normal.collect()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_of_real_size_ends_the_same_way_on_both() {
    let Some((simulated, in_simulated)) = deliver(&Cluster::simulated()).await else {
        return;
    };
    assert!(in_simulated.len() >= 150, "{} objects", in_simulated.len());
    let Some(real) = Cluster::shared_real_or_skip().await else {
        return;
    };
    let Some((real, in_real)) = deliver(&real).await else {
        return;
    };
    similar(&real, &simulated);
    assert_eq!(in_real.len(), in_simulated.len());
    let pairs = in_real.iter().zip(&in_simulated);
    let wrong: Vec<_> = pairs.filter(|(one, two)| one != two).collect();
    let agreeing = in_real.len() - wrong.len();
    note(&format!(
        "kubectl apply of {} objects: {agreeing} are the same on both servers",
        in_real.len()
    ));
    assert!(
        wrong.is_empty(),
        "{}",
        serde_json::to_string_pretty(&wrong).unwrap_or_default()
    );
}
