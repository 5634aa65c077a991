//! Whatever goes wrong is said, with a reason, and heals when its cause does.

use evenkeel_kubesim::faults::{Fault, Which};
use evenkeel_testkit::Cluster;
use k8s_openapi::api::core::v1::{ResourceQuota, Secret, Service};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::bed::{Bed, on_each};

async fn message(bed: &Bed, kind: &str) -> String {
    let status = bed.database().await.and_then(|database| database.status);
    let conditions = status.unwrap_or_default().conditions.into_iter();
    let mut found = conditions.filter(|condition| condition.kind == kind);
    found
        .next()
        .map(|condition| condition.message)
        .unwrap_or_default()
}

async fn patch_secret(bed: &Bed, patch: Value) {
    bed.api::<Secret>()
        .patch(
            "orders-credentials",
            &PatchParams::default(),
            &Patch::Merge(patch),
        )
        .await
        .unwrap();
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_said_and_tried_again() {
    on_each("database-quota", async |bed| {
        let quota = json!({"metadata": {"name": "none"}, "spec": {"hard": {"services": "0"}}});
        bed.create::<ResourceQuota>(quota).await;
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_it_says("Progressing", "True", "UnknownError")
            .await;
        let said = message(&bed, "Progressing").await;
        assert!(said.contains("quota"), "{said}");
        bed.api::<ResourceQuota>()
            .delete("none", &DeleteParams::default())
            .await
            .unwrap();
        bed.until_ready().await;
        bed.until_it_says("Progressing", "False", "Settled").await;
    })
    .await;
}

#[tokio::test]
async fn a_secret_of_somebody_else_is_named_and_left_alone() {
    on_each("database-foreign-secret", async |bed| {
        let theirs = json!({"metadata": {"name": "orders-credentials"}, "stringData": {"a": "b"}});
        bed.create::<Secret>(theirs).await;
        let before = bed.secret().await;
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_it_says("CredentialsReady", "False", "SecretNotOurs")
            .await;
        assert_eq!(bed.servers().await, None);
        assert_eq!(bed.secret().await, before);
    })
    .await;
}

#[tokio::test]
async fn a_secret_that_lost_its_label_is_not_said_to_be_lost() {
    on_each("database-unlabelled", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_ready().await;
        let data = bed.secret().await.unwrap().data;
        patch_secret(
            &bed,
            json!({"metadata": {"labels": {"evenkeel.io/database": null}}}),
        )
        .await;
        bed.until_it_says("CredentialsReady", "False", "SecretNotOurs")
            .await;
        patch_secret(
            &bed,
            json!({"metadata": {"labels": {"evenkeel.io/database": "orders"}}}),
        )
        .await;
        bed.until_ready().await;
        assert_eq!(bed.secret().await.unwrap().data, data);
    })
    .await;
}

/// The merge of their Service and ours would be invalid; that is not what is wrong.
#[tokio::test]
async fn a_foreign_child_is_a_conflict_whatever_a_mixture_would_be() {
    on_each("database-mixture", async |bed| {
        let theirs =
            json!({"metadata": {"name": "orders-pods"}, "spec": {"ports": [{"port": 80}]}});
        bed.create::<Service>(theirs).await;
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_it_says("Accepted", "False", "Conflict").await;
        let said = message(&bed, "Accepted").await;
        assert!(said.contains("orders-pods"), "{said}");
        let theirs: Service = bed.api().get("orders-pods").await.unwrap();
        assert!(theirs.owner_references().is_empty());
    })
    .await;
}

/// Nobody changes the Database afterwards: the theft itself is what is noticed.
#[tokio::test]
async fn a_theft_is_noticed_at_once() {
    on_each("database-theft", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_ready().await;
        // Somebody who exists: what belongs to nobody would be collected.
        let thief = bed.secret().await.unwrap();
        let thief = json!([{
            "apiVersion": "v1", "kind": "Secret", "name": thief.name_any(), "uid": thief.uid(),
            "controller": true,
        }]);
        let theft = Patch::Merge(json!({"metadata": {"ownerReferences": thief}}));
        bed.api::<Service>()
            .patch("orders", &PatchParams::default(), &theft)
            .await
            .unwrap();
        bed.until_it_says("Accepted", "False", "Conflict").await;
        // It is neither fought over nor deleted, whatever else is asked for.
        bed.declare(json!({"port": 6000})).await;
        bed.until("the change is looked at", async || {
            let database = bed.database().await.unwrap();
            database.status.unwrap().observed_generation == database.metadata.generation
        })
        .await;
        let stolen: Service = bed.api().get("orders").await.unwrap();
        assert_eq!(stolen.owner_references()[0].kind, "Secret");
        assert_eq!(stolen.spec.unwrap().ports.unwrap()[0].port, 5432);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_watched_is_named() {
    let bed = Bed::on(&Cluster::simulated_alive(), "unwatched").await;
    let view = bed.simulated().view("operator");
    let classes = Which::all().of("storage.k8s.io", "storageclasses");
    view.fault(classes, Fault::Forbid);
    let _operator = bed.operate_through(&view);
    bed.declare(json!({})).await;
    bed.until_it_says("Ready", "Unknown", "NotKnown").await;
    let said = message(&bed, "Ready").await;
    assert!(said.contains("storageclasses"), "{said}");
    view.heal();
    bed.until_ready().await;
}
