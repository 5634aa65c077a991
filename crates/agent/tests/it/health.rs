//! How objects are doing, as the broker hears it; and what a revision would change.

use evenkeel_api::NewDiff;
use evenkeel_model::{DiffChange, HealthStatus};
use evenkeel_testfleet::{Ground, map, on_every_ground, space, until};
use serde_json::json;

on_every_ground! {
    everywhere {
        what_a_revision_would_change_is_asked_of_the_live_cluster,
    }
    simulated {
        health_is_told_for_each_object_and_again_when_it_changes,
    }
}

const WEB: &str = "---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: health}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
";

async fn health_is_told_for_each_object_and_again_when_it_changes(
    Ground { fleet, cluster }: Ground,
) {
    let (east, shop) = (
        fleet.site("health", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let text = space("health") + &map("health", "config", "1") + WEB;
    let one = shop.submit(&text).await;
    east.reaches(&one).await;
    let told = async |wanted: HealthStatus| {
        until("the health to be told", async || {
            let status = shop.status().await.pop()?;
            (status.health == Some(wanted)).then_some(status)
        })
        .await
    };
    let status = told(HealthStatus::Degraded).await;
    let of = |name: &str| {
        status
            .objects
            .iter()
            .find(|health| health.object.name == name)
            .unwrap()
    };
    assert_eq!(of("config").status, HealthStatus::Healthy);
    assert_eq!(of("web").status, HealthStatus::Degraded);
    assert!(of("web").reason.is_some() && of("web").since.is_some());
    let there = json!({"status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}});
    east.objects("apps/v1", "Deployment", "health")
        .merge_status("web", there)
        .await;
    told(HealthStatus::Healthy).await;
    east.stop().await;
}

async fn what_a_revision_would_change_is_asked_of_the_live_cluster(
    Ground { fleet, cluster }: Ground,
) {
    let (east, shop) = (
        fleet.site("foresees", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: foreseen}\nstringData: {password: hunter2}\n";
    let text = space("foreseen") + &map("foreseen", "a", "1") + &map("foreseen", "b", "1") + secret;
    let one = shop.submit(&text).await;
    east.reaches(&one).await;
    let next = space("foreseen")
        + &map("foreseen", "a", "2")
        + &map("foreseen", "c", "1")
        + &secret.replace("hunter2", "hunter3");
    let new = NewDiff { yaml_content: next };
    let asked = shop.tenant.diff_create(shop.id, &new).await.unwrap();
    let found = until("the agent to answer", async || {
        let diff = shop.tenant.diff_get(shop.id, asked.id).await.unwrap();
        diff.answers.into_iter().next()
    })
    .await;
    assert_eq!(found.answer.error, None);
    let change = |name: &str| {
        let object = found
            .answer
            .objects
            .iter()
            .find(|diff| diff.object.name == name);
        object.map(|diff| diff.change)
    };
    let changes = ["foreseen", "a", "b", "c", "s"].map(change);
    let wanted = [
        DiffChange::None,
        DiffChange::Update,
        DiffChange::Delete,
        DiffChange::Create,
        DiffChange::Update,
    ];
    assert_eq!(changes, wanted.map(Some));
    let all = serde_json::to_string(&found.answer).unwrap();
    assert!(!all.contains("hunter"), "secrets stay in their cluster");
    assert_eq!(
        east.maps("foreseen").at("a", "/data/value").await.unwrap(),
        "1"
    );
    east.stop().await;
}
