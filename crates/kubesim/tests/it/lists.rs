//! Lists: pages, revisions, selectors, forms.

use evenkeel_kubesim::Cluster;
use serde_json::{Value, json};

use crate::client::{Ask, delete, get, post};

const MAPS: &str = "/api/v1/namespaces/lists/configmaps";

/// Five maps in a namespace of their own, two of them labelled `tier=web`.
async fn five_maps() -> Cluster {
    let cluster = Cluster::new();
    post(
        &cluster,
        "/api/v1/namespaces",
        &json!({"metadata": {"name": "lists"}}),
    )
    .await
    .expect(201);
    delete(&cluster, &format!("{MAPS}/kube-root-ca.crt"), &json!(null))
        .await
        .expect(200);
    for (name, tier) in [("a", "web"), ("b", "db"), ("c", "web"), ("d", "db")] {
        let map = json!({"metadata": {"name": name, "labels": {"tier": tier}}, "data": {"x": "1"}});
        post(&cluster, MAPS, &map).await.expect(201);
    }
    cluster
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().into_iter().flatten();
    items
        .filter_map(|item| item["metadata"]["name"].as_str())
        .collect()
}

#[tokio::test]
async fn pages_show_one_revision_whatever_happens_meanwhile() {
    let cluster = five_maps().await;
    let mut seen = Vec::new();
    let mut token = String::new();
    loop {
        let page = get(&cluster, &format!("{MAPS}?limit=2&continue={token}"))
            .await
            .expect(200);
        seen.extend(names(&page).into_iter().map(str::to_owned));
        let Some(next) = page["metadata"]["continue"].as_str() else {
            break;
        };
        token = next.to_owned();
        delete(&cluster, &format!("{MAPS}/d"), &json!(null)).await;
        post(&cluster, MAPS, &json!({"metadata": {"name": "e"}})).await;
    }
    assert_eq!(seen, ["a", "b", "c", "d", "kube-root-ca.crt"]);
}

#[tokio::test]
async fn a_continued_list_goes_on_when_its_revision_has_expired() {
    let cluster = five_maps().await;
    let page = get(&cluster, &format!("{MAPS}?limit=2")).await.expect(200);
    let token = page["metadata"]["continue"].as_str().expect("a token");
    post(&cluster, MAPS, &json!({"metadata": {"name": "e"}}))
        .await
        .expect(201);
    cluster.store().compact();
    let expired = get(&cluster, &format!("{MAPS}?limit=9&continue={token}"))
        .await
        .expect(410);
    let token = expired["metadata"]["continue"].as_str().expect("a token");
    let rest = get(&cluster, &format!("{MAPS}?limit=9&continue={token}"))
        .await
        .expect(200);
    assert_eq!(names(&rest), ["c", "d", "e", "kube-root-ca.crt"]);
}

#[tokio::test]
async fn selectors_choose() {
    let cluster = five_maps().await;
    for (query, expected) in [
        ("labelSelector=tier%3Dweb", vec!["a", "c"]),
        (
            "labelSelector=tier+notin+(web)",
            vec!["b", "d", "kube-root-ca.crt"],
        ),
        ("fieldSelector=metadata.name%3Db", vec!["b"]),
        (
            "fieldSelector=metadata.name!%3Db&labelSelector=tier",
            vec!["a", "c", "d"],
        ),
    ] {
        let list = get(&cluster, &format!("{MAPS}?{query}")).await.expect(200);
        assert_eq!(names(&list), expected, "{query}");
    }
    let gone = delete(
        &cluster,
        &format!("{MAPS}?labelSelector=tier%3Dweb"),
        &json!(null),
    )
    .await;
    assert_eq!(names(&gone.expect(200)), ["a", "c"]);
    let left = get(&cluster, MAPS).await.expect(200);
    assert_eq!(names(&left), ["b", "d", "kube-root-ca.crt"]);
}

#[tokio::test]
async fn metadata_alone_can_be_listed_and_watched() {
    let cluster = five_maps().await;
    let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let ask = |path: String| Ask {
        method: "GET",
        path,
        content_type: "",
        accept: accept.to_owned(),
        body: String::new(),
    };
    let list = ask(format!("{MAPS}?limit=1"))
        .of(&cluster)
        .await
        .expect(200);
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
    assert_eq!(list["items"][0].get("data"), None);
    let watch = ask(format!(
        "{MAPS}?watch=1&timeoutSeconds=1&labelSelector=tier%3Dweb"
    ));
    let watched = watch.of(&cluster).await;
    for line in watched.text.lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(event["object"]["kind"], "PartialObjectMetadata");
        assert_eq!(event["object"].get("data"), None);
    }
    assert_eq!(watched.text.lines().count(), 2);
}

#[tokio::test]
async fn yaml_is_read_and_written() {
    let cluster = five_maps().await;
    let ask = Ask {
        method: "POST",
        path: MAPS.to_owned(),
        content_type: "application/yaml",
        accept: "application/yaml".to_owned(),
        body: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\ndata:\n  x: \"1\"\n"
            .to_owned(),
    };
    let answer = ask.of(&cluster).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    assert!(answer.text.contains("kind: ConfigMap"), "{}", answer.text);
}

#[tokio::test]
async fn a_dry_run_leaves_no_trace() {
    let cluster = five_maps().await;
    let before = cluster.store().revision();
    let dry = json!({"metadata": {"name": "dry"}});
    let created = post(&cluster, &format!("{MAPS}?dryRun=All"), &dry)
        .await
        .expect(201);
    assert_eq!(created["metadata"].get("resourceVersion"), None);
    delete(&cluster, &format!("{MAPS}/a?dryRun=All"), &json!(null))
        .await
        .expect(200);
    delete(&cluster, &format!("{MAPS}?dryRun=All"), &json!(null))
        .await
        .expect(200);
    assert_eq!(cluster.store().revision(), before);
}

#[tokio::test]
async fn events_are_the_same_in_both_groups() {
    let cluster = Cluster::new();
    let event = json!({
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "note": "it happened",
        "reason": "Happened",
        "type": "Normal",
        "action": "Happen",
        "reportingController": "test",
        "reportingInstance": "test-1",
        "eventTime": "2026-01-01T00:00:00.000000Z",
    });
    post(
        &cluster,
        "/apis/events.k8s.io/v1/namespaces/default/events",
        &event,
    )
    .await
    .expect(201);
    let path = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp";
    let list = get(&cluster, path).await.expect(200);
    assert_eq!(list["items"][0]["message"], "it happened");
    let path = "/apis/events.k8s.io/v1/namespaces/default/events/e";
    assert_eq!(get(&cluster, path).await.expect(200)["note"], "it happened");
}
