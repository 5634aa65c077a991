//! A cluster that is kept in a file is the same cluster after a restart.

use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::ambient::Ambient;
use serde_json::{Value, json};

use crate::client::{get, post};

fn widgets() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.shop.io" },
        "spec": {
            "group": "shop.io",
            "scope": "Namespaced",
            "names": { "plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                    "spec": { "type": "object", "properties": { "size": { "type": "integer" } } },
                } } },
            }],
        },
    })
}

const PLACES: &[&str] = &[
    "/api/v1/namespaces",
    "/api/v1/configmaps",
    "/api/v1/serviceaccounts",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/shop.io/v1/widgets",
];

/// Everything at the places above, without the revision of the list itself.
async fn contents(cluster: &Cluster) -> Vec<Value> {
    let mut found = Vec::new();
    for place in PLACES {
        found.push(get(cluster, place).await.expect(200)["items"].clone());
    }
    found
}

#[tokio::test]
async fn a_cluster_in_a_file_is_still_there_after_a_restart() {
    let place = tempfile::tempdir().expect("a place");
    let path = place.path().join("cluster");
    let open = || Cluster::open(&path, Ambient::system()).expect("the file opens");

    let cluster = open();
    let shop = json!({ "metadata": { "name": "shop" } });
    post(&cluster, "/api/v1/namespaces", &shop)
        .await
        .expect(201);
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    post(&cluster, definitions, &widgets()).await.expect(201);
    let widget = json!({ "apiVersion": "shop.io/v1", "kind": "Widget", "metadata": { "name": "w" },
        "spec": { "size": 3, "unknown": true } });
    post(
        &cluster,
        "/apis/shop.io/v1/namespaces/shop/widgets",
        &widget,
    )
    .await
    .expect(201);
    let (before, revision) = (contents(&cluster).await, cluster.store().revision());
    drop(cluster);

    let cluster = open();
    assert_eq!(
        cluster.store().revision(),
        revision,
        "opening a cluster changes nothing in it"
    );
    assert_eq!(contents(&cluster).await, before);
    assert_eq!(before[4][0]["spec"], json!({ "size": 3 }));
    let wrong = json!({ "apiVersion": "shop.io/v1", "kind": "Widget", "metadata": { "name": "x" },
        "spec": { "size": "large" } });
    post(&cluster, "/apis/shop.io/v1/namespaces/shop/widgets", &wrong)
        .await
        .expect(422);
    let old = format!(
        "/api/v1/configmaps?watch=1&resourceVersion={}",
        revision - 1
    );
    assert!(get(&cluster, &old).await.text.contains("\"Expired\""));
}
