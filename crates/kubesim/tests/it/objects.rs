//! Objects: created, read, listed, changed, watched and deleted.

use evenkeel_kubesim::Cluster;
use serde_json::json;

use crate::client::{apply, delete, get, merge, post, put};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn an_object_lives_from_creation_to_deletion() {
    let cluster = Cluster::new();
    let path = format!("{MAPS}/a");
    let created = post(
        &cluster,
        MAPS,
        &json!({"metadata": {"name": "a"}, "data": {"x": "1"}}),
    )
    .await
    .expect(201);
    assert_eq!(created["kind"], "ConfigMap");
    assert_eq!(
        created["metadata"]["managedFields"][0]["manager"],
        "unknown"
    );

    assert_eq!(get(&cluster, &path).await.expect(200), created);
    let list = get(&cluster, MAPS).await.expect(200);
    let item = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .find(|item| item["metadata"]["name"] == "a");
    assert_eq!(item.expect("listed")["data"], json!({"x": "1"}));
    assert_eq!(item.expect("listed").get("kind"), None);

    let mut changed = created.clone();
    changed["data"]["x"] = "2".into();
    let updated = put(&cluster, &path, &changed).await.expect(200);
    assert_ne!(
        updated["metadata"]["resourceVersion"],
        created["metadata"]["resourceVersion"]
    );
    assert_eq!(put(&cluster, &path, &changed).await.code, 409);
    assert_eq!(put(&cluster, &path, &updated).await.expect(200), updated);

    let patched = merge(&cluster, &path, &json!({"data": {"y": "1"}}))
        .await
        .expect(200);
    assert_eq!(patched["data"], json!({"x": "2", "y": "1"}));

    let from = created["metadata"]["resourceVersion"]
        .as_str()
        .expect("revision");
    let watched = get(
        &cluster,
        &format!("{MAPS}?watch=1&resourceVersion={from}&timeoutSeconds=1"),
    )
    .await;
    assert_eq!(watched.text.lines().count(), 2, "{}", watched.text);

    assert_eq!(
        delete(&cluster, &path, &json!(null)).await.expect(200)["status"],
        "Success"
    );
    assert_eq!(get(&cluster, &path).await.code, 404);
}

#[tokio::test]
async fn applying_twice_changes_nothing() {
    let cluster = Cluster::new();
    let path = format!("{MAPS}/a?fieldManager=m");
    let intent = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}});
    let first = apply(&cluster, &path, &intent).await.expect(201);
    assert_eq!(apply(&cluster, &path, &intent).await.expect(200), first);
    let second = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"y": "1"}});
    assert_eq!(
        apply(&cluster, &path, &second).await.expect(200)["data"],
        json!({"y": "1"})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appliers_that_race_all_get_their_field() {
    let cluster = Cluster::new();
    let appliers = (0..8).map(|n| {
        let cluster = cluster.clone();
        tokio::spawn(async move {
            let data = json!({format!("k{n}"): "1"});
            let intent = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data,
            });
            let path = format!("{MAPS}/a?fieldManager=m{n}");
            assert!(apply(&cluster, &path, &intent).await.code < 300);
        })
    });
    for applier in appliers.collect::<Vec<_>>() {
        applier.await.expect("applied");
    }
    let map = get(&cluster, &format!("{MAPS}/a")).await.expect(200);
    assert_eq!(map["data"].as_object().map(serde_json::Map::len), Some(8));
    assert_eq!(
        map["metadata"]["managedFields"].as_array().map(Vec::len),
        Some(8)
    );
}
