//! Custom resources: served as soon as they are defined, gone with their definition.

use evenkeel_kubesim::{Ambient, Cluster, Pace};
use serde_json::{Value, json};

use crate::client::{apply, delete, get, merge, post, put};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/ex.io/v1/namespaces/default/widgets";

/// Widgets in two versions, with a size that has a default, a status and a scale.
fn widgets() -> Value {
    let schema = json!({"openAPIV3Schema": {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer", "default": 3, "maximum": 10},
                    "parts": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {"name": {"type": "string"}, "kind": {"type": "string"}},
                        },
                    },
                },
            },
            "status": {
                "type": "object",
                "properties": {"replicas": {"type": "integer"}, "ready": {"type": "boolean"}},
            },
        },
    }});
    let subresources = json!({
        "status": {},
        "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"},
    });
    let version = |name: &str, storage: bool| {
        json!({
            "name": name,
            "served": true,
            "storage": storage,
            "schema": schema,
            "subresources": subresources,
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.ex.io"},
        "spec": {
            "group": "ex.io",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [version("v1", true), version("v1beta1", false)],
        },
    })
}

fn widget(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "ex.io/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

async fn with_widgets() -> Cluster {
    let cluster = Cluster::new();
    post(&cluster, DEFINITIONS, &widgets()).await.expect(201);
    cluster
}

#[tokio::test]
async fn a_definition_is_established_and_served_at_once() {
    let cluster = with_widgets().await;
    let definition = get(&cluster, &format!("{DEFINITIONS}/widgets.ex.io"))
        .await
        .expect(200);
    let conditions = definition["status"]["conditions"]
        .as_array()
        .expect("conditions");
    for kind in ["NamesAccepted", "Established"] {
        let condition = conditions
            .iter()
            .find(|condition| condition["type"] == kind)
            .expect(kind);
        assert_eq!(condition["status"], "True", "{kind}");
    }
    let group = get(&cluster, "/apis/ex.io").await.expect(200);
    assert_eq!(group["preferredVersion"]["version"], "v1");
    let resources = get(&cluster, "/apis/ex.io/v1beta1").await.expect(200);
    let names: Vec<&str> = resources["resources"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(names, ["widgets", "widgets/status", "widgets/scale"]);
}

#[tokio::test]
async fn objects_are_defaulted_pruned_and_validated() {
    let cluster = with_widgets().await;
    let created = post(&cluster, WIDGETS, &widget("a", &json!({"color": "red"}))).await;
    assert_eq!(
        created.warnings,
        [r#"299 - "unknown field \"spec.color\"""#]
    );
    let created = created.expect(201);
    assert_eq!(created["spec"], json!({"size": 3}));
    assert_eq!(created["metadata"]["generation"], 1);
    let refused = post(&cluster, WIDGETS, &widget("b", &json!({"size": 11})))
        .await
        .expect(422);
    let message = "Widget.ex.io \"b\" is invalid: spec.size: Invalid value: 11: spec.size in body \
                   should be less than or equal to 10";
    assert_eq!(refused["message"], message);
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let refused = post(&cluster, &strict, &widget("b", &json!({"color": "red"})))
        .await
        .expect(400);
    let message = "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: \
                   unknown field \"spec.color\"";
    assert_eq!(refused["message"], message);
}

#[tokio::test]
async fn all_versions_show_the_same_objects() {
    let cluster = with_widgets().await;
    post(&cluster, WIDGETS, &widget("a", &json!({})))
        .await
        .expect(201);
    let old = get(&cluster, &WIDGETS.replace("v1", "v1beta1"))
        .await
        .expect(200);
    assert_eq!(old["kind"], "WidgetList");
    assert_eq!(old["items"][0]["apiVersion"], "ex.io/v1beta1");
    assert_eq!(old["items"][0]["kind"], "Widget");
}

#[tokio::test]
async fn spec_and_status_are_written_apart() {
    let cluster = with_widgets().await;
    let path = format!("{WIDGETS}/a");
    post(&cluster, WIDGETS, &widget("a", &json!({})))
        .await
        .expect(201);
    let both = json!({"spec": {"size": 4}, "status": {"ready": true}});
    let changed = merge(&cluster, &path, &both).await.expect(200);
    assert_eq!(changed["metadata"]["generation"], 2);
    assert_eq!(changed.get("status"), None);
    let both = json!({"spec": {"size": 5}, "status": {"ready": true}});
    let changed = merge(&cluster, &format!("{path}/status"), &both)
        .await
        .expect(200);
    assert_eq!(changed["spec"]["size"], 4);
    assert_eq!(changed["status"], json!({"ready": true}));
    assert_eq!(changed["metadata"]["generation"], 2);
    let scale = merge(
        &cluster,
        &format!("{path}/scale"),
        &json!({"spec": {"replicas": 7}}),
    )
    .await;
    assert_eq!(scale.expect(200)["spec"]["replicas"], 7);
    assert_eq!(get(&cluster, &path).await.expect(200)["spec"]["size"], 7);
}

#[tokio::test]
async fn an_update_must_name_the_revision() {
    let cluster = with_widgets().await;
    post(&cluster, WIDGETS, &widget("a", &json!({})))
        .await
        .expect(201);
    let refused = put(&cluster, &format!("{WIDGETS}/a"), &widget("a", &json!({})))
        .await
        .expect(422);
    let message = "widgets.ex.io \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must \
                   be specified for an update";
    assert_eq!(refused["message"], message);
}

#[tokio::test]
async fn lists_merge_by_the_keys_of_the_definition() {
    let cluster = with_widgets().await;
    let path = format!("{WIDGETS}/a");
    let part = |name: &str| widget("a", &json!({"parts": [{"name": name, "kind": "x"}]}));
    apply(
        &cluster,
        &format!("{path}?fieldManager=one"),
        &part("wheel"),
    )
    .await
    .expect(201);
    let both = apply(&cluster, &format!("{path}?fieldManager=two"), &part("axle"))
        .await
        .expect(200);
    assert_eq!(both["spec"]["parts"].as_array().map(Vec::len), Some(2));
    let none = apply(
        &cluster,
        &format!("{path}?fieldManager=one"),
        &widget("a", &json!({})),
    )
    .await;
    assert_eq!(
        none.expect(200)["spec"]["parts"],
        json!([{"name": "axle", "kind": "x"}])
    );
}

#[tokio::test]
async fn objects_go_with_their_definition() {
    let cluster = with_widgets().await;
    let mut held = widget("a", &json!({}));
    held["metadata"]["finalizers"] = json!(["ex.io/f"]);
    post(&cluster, WIDGETS, &held).await.expect(201);
    post(&cluster, WIDGETS, &widget("b", &json!({})))
        .await
        .expect(201);
    let path = format!("{DEFINITIONS}/widgets.ex.io");
    delete(&cluster, &path, &json!(null)).await.expect(200);
    assert_eq!(
        get(&cluster, WIDGETS).await.expect(200)["items"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    merge(
        &cluster,
        &format!("{WIDGETS}/a"),
        &json!({"metadata": {"finalizers": []}}),
    )
    .await
    .expect(200);
    assert_eq!(get(&cluster, &path).await.code, 404);
    let gone = get(&cluster, WIDGETS).await;
    assert_eq!(
        (gone.code, gone.text.as_str()),
        (404, "404 page not found\n")
    );
}

#[tokio::test]
async fn a_stepped_cluster_does_nothing_by_itself() {
    let cluster = Cluster::with(Ambient::system(), Pace::WhenStepped);
    post(&cluster, DEFINITIONS, &widgets()).await.expect(201);
    assert_eq!(get(&cluster, WIDGETS).await.code, 404);
    assert!(cluster.step());
    assert_eq!(get(&cluster, WIDGETS).await.code, 200);
}
