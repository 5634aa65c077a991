//! Volumes that grow while the servers run.

use evenkeel_testkit::Cluster;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::bed::Bed;

fn sized(size: &str, class: &str) -> Value {
    json!({"replicas": 2, "storage": {"size": size, "class": class}})
}

async fn requested(bed: &Bed) -> Vec<String> {
    let claims = bed.claims().await;
    let request = |claim: k8s_openapi::api::core::v1::PersistentVolumeClaim| {
        claim.spec.unwrap().resources.unwrap().requests.unwrap()["storage"]
            .0
            .clone()
    };
    claims.into_iter().map(request).collect()
}

async fn templated(bed: &Bed) -> Option<String> {
    let templates = bed.servers().await?.spec?.volume_claim_templates?;
    let requests = templates[0].spec.clone()?.resources?.requests?;
    Some(requests["storage"].0.clone())
}

#[tokio::test]
async fn volumes_grow_and_no_pod_is_restarted() {
    let bed = Bed::on(&Cluster::simulated_alive(), "growth").await;
    let _operator = bed.operate();
    bed.declare(sized("1Gi", "growing")).await;
    bed.until_ready().await;
    let pods = async || {
        let pods = bed.api::<Pod>().list(&Default::default()).await.unwrap();
        pods.items.iter().map(ResourceExt::uid).collect::<Vec<_>>()
    };
    let before = pods().await;
    bed.declare(sized("2Gi", "growing")).await;
    let grown = async || {
        requested(&bed).await == ["2Gi", "2Gi"] && templated(&bed).await.as_deref() == Some("2Gi")
    };
    bed.until("claims and template ask for more", grown).await;
    bed.until_it_says("StorageResizing", "False", "UpToDate")
        .await;
    bed.until_ready().await;
    assert_eq!(pods().await, before);
}

#[tokio::test]
async fn a_class_that_cannot_grow_is_said_and_nothing_is_touched() {
    let bed = Bed::on(&Cluster::simulated_alive(), "rigid").await;
    let _operator = bed.operate();
    bed.declare(sized("1Gi", "rigid")).await;
    bed.until_ready().await;
    bed.declare(sized("2Gi", "rigid")).await;
    bed.until_it_says("StorageResizing", "False", "ExpansionNotAllowed")
        .await;
    assert_eq!(requested(&bed).await, ["1Gi", "1Gi"]);
}

/// On the real control plane nobody makes the volumes larger, but the moves are the same.
#[tokio::test]
async fn the_real_server_takes_the_moves_of_growing() {
    let Some(real) = Cluster::shared_real_alive_or_skip().await else {
        return;
    };
    let bed = Bed::on(&real, "database-growth").await;
    let _operator = bed.operate();
    bed.declare(sized("1Gi", "growing")).await;
    bed.until_ready().await;
    bed.declare(sized("2Gi", "growing")).await;
    let grown = async || {
        requested(&bed).await == ["2Gi", "2Gi"] && templated(&bed).await.as_deref() == Some("2Gi")
    };
    bed.until("claims and template ask for more", grown).await;
    bed.until_it_says("StorageResizing", "True", "Resizing")
        .await;
}
