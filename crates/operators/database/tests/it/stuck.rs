//! Pods that keep a StatefulSet from going on: which of them may be deleted, and that it helps.

use evenkeel_database_operator::stuck::in_the_way;
use evenkeel_testkit::Cluster;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::bed::{Bed, on_each};

/// Servers of revision `new`, which their controller has seen.
fn servers() -> StatefulSet {
    let servers = json!({
        "metadata": {"name": "orders", "generation": 3},
        "spec": {"selector": {}, "template": {}, "serviceName": "orders-pods"},
        "status": {"observedGeneration": 3, "replicas": 1, "updateRevision": "new"},
    });
    serde_json::from_value(servers).unwrap()
}

fn pod(revision: &str, status: &Value) -> Pod {
    let labels = json!({"controller-revision-hash": revision});
    let pod = json!({"metadata": {"name": "orders-0", "labels": labels}, "status": status});
    serde_json::from_value(pod).unwrap()
}

/// A pod whose only container is in this state.
fn with_container(phase: &str, state: &Value) -> Value {
    let container = json!({
        "name": "postgresql", "image": "x", "imageID": "", "restartCount": 0,
        "ready": false, "state": state,
    });
    json!({"phase": phase, "containerStatuses": [container]})
}

fn waiting(reason: &str) -> Value {
    with_container("Pending", &json!({"waiting": {"reason": reason}}))
}

fn is_in_the_way(pod: Pod) -> bool {
    !in_the_way(&servers(), &[pod]).is_empty()
}

#[test]
fn old_pods_whose_server_does_not_run_are_in_the_way() {
    let unplaced = json!({"phase": "Pending"});
    let crashed = with_container(
        "Running",
        &json!({"waiting": {"reason": "CrashLoopBackOff"}}),
    );
    for status in [unplaced, waiting("ImagePullBackOff"), crashed] {
        assert!(is_in_the_way(pod("old", &status)), "{status}");
        assert!(!is_in_the_way(pod("new", &status)), "{status}");
    }
}

#[test]
fn a_server_that_may_be_at_work_is_never_in_the_way() {
    let recovering = with_container("Running", &json!({"running": {}}));
    let untold = json!({"phase": "Running"});
    for status in [recovering, untold] {
        assert!(!is_in_the_way(pod("old", &status)), "{status}");
    }
}

#[test]
fn nothing_is_judged_by_what_is_out_of_date_or_not_known() {
    let stuck = || pod("old", &json!({"phase": "Pending"}));
    let mut newer = servers();
    newer.metadata.generation = Some(4);
    assert!(in_the_way(&newer, &[stuck()]).is_empty());
    let mut unseen = servers();
    unseen.status = None;
    assert!(in_the_way(&unseen, &[stuck()]).is_empty());
    let mut leaving = stuck();
    leaving.metadata.deletion_timestamp =
        Some(serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap());
    assert!(!is_in_the_way(leaving));
    let mut unmarked = stuck();
    unmarked.metadata.labels = None;
    assert!(!is_in_the_way(unmarked));
}

async fn pod_of(bed: &Bed, name: &str) -> Option<Pod> {
    bed.api::<Pod>().get_opt(name).await.unwrap()
}

async fn until_unplaced(bed: &Bed, name: &str) {
    let unplaced = async || {
        let status = pod_of(bed, name).await.and_then(|pod| pod.status);
        let conditions = status
            .and_then(|status| status.conditions)
            .unwrap_or_default();
        conditions
            .iter()
            .any(|c| c.reason.as_deref() == Some("Unschedulable"))
    };
    bed.until("the pod finds no node", unplaced).await;
}

#[tokio::test]
async fn a_first_pod_that_finds_no_node_goes_with_the_change_that_sent_it_there() {
    on_each("database-nowhere", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({"nodeSelector": {"disk": "none"}})).await;
        until_unplaced(&bed, "orders-0").await;
        bed.declare(json!({})).await;
        bed.until_ready().await;
    })
    .await;
}

#[tokio::test]
async fn a_change_that_was_taken_back_leaves_the_primary_alone() {
    on_each("database-taken-back", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({"replicas": 2})).await;
        bed.until_ready().await;
        let primary = pod_of(&bed, "orders-0").await.unwrap().uid();
        bed.declare(json!({"replicas": 2, "nodeSelector": {"disk": "none"}}))
            .await;
        until_unplaced(&bed, "orders-1").await;
        bed.declare(json!({"replicas": 2})).await;
        bed.until_ready().await;
        assert_eq!(pod_of(&bed, "orders-0").await.unwrap().uid(), primary);
    })
    .await;
}

/// Only the simulator has images that cannot be pulled and servers that crash.
#[tokio::test]
async fn neither_a_wrong_image_nor_a_crash_is_for_ever() {
    for fate in ["image-pull", "crash-loop"] {
        let bed = Bed::on(&Cluster::simulated_alive(), "fate").await;
        let _operator = bed.operate();
        let wrong = json!({"kubesim.evenkeel.io/fate": fate});
        bed.declare(json!({"podAnnotations": wrong})).await;
        let starts_not = async || {
            let status = bed.database().await.unwrap().status.unwrap_or_default();
            let ready = status.conditions.into_iter().find(|c| c.kind == "Ready");
            ready.is_some_and(|c| c.message.contains("orders-0 does not start"))
        };
        bed.until("the condition says which pod does not start", starts_not)
            .await;
        let status = bed.database().await.unwrap().status.unwrap();
        assert_eq!(status.version, None, "no server runs it");
        bed.declare(json!({})).await;
        bed.until_ready().await;
    }
}
