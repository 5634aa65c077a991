//! What is not done: nothing at rest, nothing while paused, nothing beyond the rights.

use std::collections::BTreeSet;
use std::time::Duration;

use evenkeel_database_operator::Database;
use evenkeel_kubesim::faults::View;
use evenkeel_testkit::Cluster;
use kube::Client;
use kube::api::DeleteParams;
use serde_json::json;
use tokio::time::sleep;

use crate::bed::Bed;
use crate::world::children;

const HOUR: Duration = Duration::from_secs(3_600);
const A_WHILE: Duration = Duration::from_secs(120);

async fn bed() -> (Bed, View) {
    let bed = Bed::on(&Cluster::simulated_alive(), "rest").await;
    let view = bed.simulated().view("operator");
    (bed, view)
}

#[tokio::test(start_paused = true)]
async fn another_process_finds_nothing_to_write_and_then_nothing_to_ask() {
    let (bed, view) = bed().await;
    let operator = bed.operate();
    bed.declare(json!({"replicas": 2})).await;
    bed.until_ready().await;
    operator.stop().await;

    let _operator = bed.operate_through(&view);
    sleep(A_WHILE).await;
    let written: Vec<_> = view
        .log()
        .entries()
        .filter(|entry| entry.call.is_write())
        .map(|entry| entry.call.to_string())
        .collect();
    assert!(
        written.is_empty(),
        "status and events included: {written:?}"
    );
    view.reset_log();
    sleep(HOUR).await;
    let log = view.log();
    let asked = log.entries().map(|entry| entry.call.verb.as_str());
    let asked: BTreeSet<_> = asked.collect();
    assert!(asked.iter().all(|verb| *verb == "watch"), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hundred_looks_and_ten_processes_leave_the_secret_as_it_is() {
    let (bed, _) = bed().await;
    bed.declare(json!({})).await;
    let operator = bed.operate();
    bed.until_ready().await;
    operator.stop().await;
    let first = bed.secret().await.unwrap();
    for process in 0..10 {
        let operator = bed.operate();
        sleep(A_WHILE).await;
        for look in 0..10 {
            bed.declare(json!({"podAnnotations": {"look": format!("{process}-{look}")}}))
                .await;
            sleep(Duration::from_secs(1)).await;
        }
        operator.stop().await;
    }
    assert_eq!(bed.secret().await.unwrap(), first);
}

#[tokio::test(start_paused = true)]
async fn a_paused_database_is_not_even_told_so_and_catches_up_later() {
    let (bed, view) = bed().await;
    bed.declare(json!({})).await;
    let _operator = bed.operate_through(&view);
    bed.until_ready().await;
    let before = children(&bed).await;
    view.reset_log();
    let changed = json!({"paused": true, "replicas": 2, "settings": {"work_mem": "8MB"}});
    bed.declare(changed).await;
    sleep(HOUR).await;
    assert_eq!(view.log().writes(), 0);
    assert_eq!(children(&bed).await, before);
    bed.declare(json!({"replicas": 2, "settings": {"work_mem": "8MB"}}))
        .await;
    bed.until_ready().await;
    assert_eq!(bed.servers().await.unwrap().spec.unwrap().replicas, Some(2));
}

/// A life in which every request is made that the operator knows.
async fn whole_life(bed: &Bed) {
    bed.declare(json!({"replicas": 2, "deletionPolicy": "Delete"}))
        .await;
    bed.until_ready().await;
    bed.annotate("evenkeel.io/rotate-password", "monday").await;
    let larger = json!({"size": "2Gi", "class": "growing"});
    bed.declare(json!({"storage": larger, "deletionPolicy": "Delete"}))
        .await;
    sleep(A_WHILE).await;
    let nowhere = json!({
        "storage": larger, "deletionPolicy": "Delete", "nodeSelector": {"disk": "none"},
    });
    bed.declare(nowhere).await;
    sleep(A_WHILE).await;
    bed.declare(json!({"storage": larger, "deletionPolicy": "Delete"}))
        .await;
    bed.until_ready().await;
    let how = DeleteParams::background();
    bed.api::<Database>().delete("orders", &how).await.unwrap();
    bed.until("it is gone", async || bed.database().await.is_none())
        .await;
}

#[tokio::test(start_paused = true)]
async fn every_request_is_covered_by_the_shipped_rights() {
    let (bed, view) = bed().await;
    let rights = bed.rights(Client::new(view.clone(), "default"));
    let _operator = bed.operate_through(&view);
    whole_life(&bed).await;
    let mut beyond = BTreeSet::new();
    for entry in view.log().entries() {
        let call = &entry.call;
        let part = call.subresource.iter().map(|part| format!("/{part}"));
        let resource = format!("{}{}", call.resource.plural, part.collect::<String>());
        if !rights.cover(call.verb.as_str(), &call.resource.group, &resource) {
            beyond.insert(format!("{} {resource}", call.verb.as_str()));
        }
    }
    assert!(beyond.is_empty(), "{beyond:?}");
}

/// What `bench/` measures with a thousand, so that its numbers mean something.
#[tokio::test(start_paused = true)]
async fn many_databases_come_to_life_and_then_cost_nothing() {
    const MANY: u64 = 30;
    let (bed, view) = bed().await;
    let _operator = bed.operate_through(&view);
    for number in 0..MANY {
        // The cluster's own storage class.
        let spec = json!({"version": "17", "storage": {"size": "1Gi"}});
        let labels = json!({"test": bed.namespace});
        let name = format!("database-{number}");
        bed.create::<Database>(json!({
            "apiVersion": "evenkeel.io/v1", "kind": "Database",
            "metadata": {"name": name, "labels": labels}, "spec": spec,
        }))
        .await;
    }
    bed.until("all of them are ready", async || {
        let all = bed.api::<Database>().list(&Default::default()).await;
        let is_ready = |database: Database| {
            let status = database.status.unwrap_or_default();
            status.ready_replicas == 1 && status.version.as_deref() == Some("17")
        };
        all.unwrap().items.into_iter().all(is_ready)
    })
    .await;
    sleep(A_WHILE).await;
    let each = view.reset_log().requests() / MANY;
    assert!(each < 60, "{each} requests for each");
    sleep(HOUR).await;
    let log = view.log();
    assert!(
        log.entries()
            .all(|entry| entry.call.verb.as_str() == "watch")
    );
}
