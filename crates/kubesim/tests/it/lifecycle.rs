//! Namespaces, finalizers, garbage collection and custom resource definitions.

use evenkeel_kubesim::Cluster;
use serde_json::{Value, json};

use crate::client::{delete, get, merge, post};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().into_iter().flatten();
    items
        .filter_map(|item| item["metadata"]["name"].as_str())
        .collect()
}

#[tokio::test]
async fn a_new_cluster_has_what_every_cluster_has() {
    let cluster = Cluster::new();
    let namespaces = get(&cluster, "/api/v1/namespaces").await.expect(200);
    assert_eq!(
        names(&namespaces),
        ["default", "kube-node-lease", "kube-public", "kube-system"]
    );
    assert_eq!(namespaces["items"][0]["status"]["phase"], "Active");
    let accounts = get(&cluster, "/api/v1/serviceaccounts").await.expect(200);
    assert_eq!(names(&accounts), ["default"; 4]);
    assert_eq!(
        names(&get(&cluster, MAPS).await.expect(200)),
        ["kube-root-ca.crt"]
    );
    assert_eq!(
        names(&get(&cluster, "/api/v1/services").await.expect(200)),
        ["kubernetes"]
    );
}

#[tokio::test]
async fn a_namespace_goes_when_its_last_object_has_gone() {
    let cluster = Cluster::new();
    post(
        &cluster,
        "/api/v1/namespaces",
        &json!({"metadata": {"name": "shop"}}),
    )
    .await
    .expect(201);
    let held = json!({"metadata": {"name": "held", "finalizers": ["ex.io/f"]}});
    let maps = "/api/v1/namespaces/shop/configmaps";
    post(&cluster, maps, &held).await.expect(201);
    post(&cluster, maps, &json!({"metadata": {"name": "free"}}))
        .await
        .expect(201);

    let deleted = delete(&cluster, "/api/v1/namespaces/shop", &json!(null))
        .await
        .expect(200);
    assert_eq!(deleted["status"]["phase"], "Terminating");
    assert_eq!(names(&get(&cluster, maps).await.expect(200)), ["held"]);
    assert_eq!(
        post(&cluster, maps, &json!({"metadata": {"name": "new"}}))
            .await
            .code,
        403
    );

    merge(
        &cluster,
        &format!("{maps}/held"),
        &json!({"metadata": {"finalizers": null}}),
    )
    .await
    .expect(200);
    assert_eq!(get(&cluster, "/api/v1/namespaces/shop").await.code, 404);
    assert_eq!(
        post(&cluster, maps, &json!({"metadata": {"name": "new"}}))
            .await
            .code,
        404
    );
}

async fn map_owned_by(cluster: &Cluster, name: &str, owner: &Value) -> Value {
    let reference = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": true,
    });
    let object = json!({"metadata": {"name": name, "ownerReferences": [reference]}});
    post(cluster, MAPS, &object).await.expect(201)
}

async fn owner_with_dependent(cluster: &Cluster) {
    let owner = post(cluster, MAPS, &json!({"metadata": {"name": "owner"}}))
        .await
        .expect(201);
    let dependent = map_owned_by(cluster, "dependent", &owner).await;
    map_owned_by(cluster, "grandchild", &dependent).await;
}

async fn maps_left(cluster: &Cluster) -> Vec<String> {
    let list = get(cluster, MAPS).await.expect(200);
    names(&list)
        .into_iter()
        .filter(|name| *name != "kube-root-ca.crt")
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn dependents_follow_their_owner() {
    let cluster = Cluster::new();
    owner_with_dependent(&cluster).await;
    delete(&cluster, &format!("{MAPS}/owner"), &json!(null))
        .await
        .expect(200);
    assert_eq!(maps_left(&cluster).await, [""; 0]);
}

#[tokio::test]
async fn an_owner_waits_for_the_dependents_that_block_it() {
    let cluster = Cluster::new();
    owner_with_dependent(&cluster).await;
    let dependent = format!("{MAPS}/dependent");
    merge(
        &cluster,
        &dependent,
        &json!({"metadata": {"finalizers": ["ex.io/f"]}}),
    )
    .await
    .expect(200);
    let options = json!({"propagationPolicy": "Foreground"});
    let deleted = delete(&cluster, &format!("{MAPS}/owner"), &options)
        .await
        .expect(200);
    assert_eq!(
        deleted["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    assert_eq!(maps_left(&cluster).await, ["dependent", "owner"]);
    merge(
        &cluster,
        &dependent,
        &json!({"metadata": {"finalizers": []}}),
    )
    .await
    .expect(200);
    assert_eq!(maps_left(&cluster).await, [""; 0]);
}

#[tokio::test]
async fn orphans_stay() {
    let cluster = Cluster::new();
    owner_with_dependent(&cluster).await;
    let options = json!({"propagationPolicy": "Orphan"});
    delete(&cluster, &format!("{MAPS}/owner"), &options)
        .await
        .expect(200);
    assert_eq!(maps_left(&cluster).await, ["dependent", "grandchild"]);
    let dependent = get(&cluster, &format!("{MAPS}/dependent"))
        .await
        .expect(200);
    assert_eq!(dependent["metadata"].get("ownerReferences"), None);
}

#[tokio::test]
async fn an_object_whose_owner_never_was_is_collected() {
    let cluster = Cluster::new();
    let nobody = json!({"metadata": {"name": "nobody", "uid": "1"}});
    map_owned_by(&cluster, "dependent", &nobody).await;
    assert_eq!(maps_left(&cluster).await, [""; 0]);
}

#[tokio::test]
async fn a_bound_pod_waits_for_its_node_unless_told_not_to() {
    let cluster = Cluster::new();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    });
    post(&cluster, pods, &pod).await.expect(201);
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}});
    post(&cluster, &format!("{pods}/p/binding"), &binding)
        .await
        .expect(201);
    assert_eq!(
        post(&cluster, &format!("{pods}/p/binding"), &binding)
            .await
            .code,
        409
    );
    let deleted = delete(&cluster, &format!("{pods}/p"), &json!(null))
        .await
        .expect(200);
    assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(get(&cluster, &format!("{pods}/p")).await.code, 200);
    let now = json!({"metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 0}});
    post(&cluster, &format!("{pods}/p/eviction"), &now)
        .await
        .expect(201);
    assert_eq!(get(&cluster, &format!("{pods}/p")).await.code, 404);
}

#[tokio::test]
async fn an_owner_of_an_unknown_kind_may_be_there() {
    let cluster = Cluster::new();
    let unknown = json!({
        "apiVersion": "nope.io/v1", "kind": "Nope", "name": "x", "uid": "1",
    });
    let object = json!({"metadata": {"name": "kept", "ownerReferences": [unknown]}});
    post(&cluster, MAPS, &object).await.expect(201);
    assert_eq!(maps_left(&cluster).await, ["kept"]);
}
