//! Changes that others make.

use evenkeel_api::DriftQuery;
use evenkeel_model::DriftMode;
use evenkeel_testfleet::{Fleet, Ground, Site, Stack, map, on_every_ground, space, until};
use evenkeel_testkit::Cluster;
use serde_json::json;

on_every_ground! {
    everywhere {
        five_sorts_of_drift_are_repaired_and_foreign_fields_are_kept,
        drift_is_told_and_left_where_the_mode_says_warn,
        what_the_stack_says_of_drift_counts_before_the_agents_mode,
        the_same_content_again_gets_a_new_id_and_restores,
        drift_is_repaired_without_the_broker,
    }
}

/// A stack on an agent with this mode, which has it.
async fn delivered(fleet: &Fleet, name: &str, cluster: &Cluster, mode: DriftMode) -> (Site, Stack) {
    delivered_as(fleet, name, cluster, mode, None).await
}

/// The same for a stack that has something to say about drift itself.
async fn delivered_as(
    fleet: &Fleet,
    name: &str,
    cluster: &Cluster,
    mode: DriftMode,
    of_stack: Option<DriftMode>,
) -> (Site, Stack) {
    let (east, shop) = (
        fleet.quiet_site(name, cluster).await,
        fleet.stack("shop").await,
    );
    shop.decide_on_drift(of_stack).await;
    east.settings.lock().await.drift = mode;
    east.start().await;
    east.serves(&shop).await;
    let one = shop.submit(&(space(name) + &map(name, "a", "ours"))).await;
    east.reaches(&one).await;
    (east, shop)
}

async fn five_sorts_of_drift_are_repaired_and_foreign_fields_are_kept(
    Ground { fleet, cluster }: Ground,
) {
    let (east, shop) = delivered(&fleet, "drifts", &cluster, DriftMode::Enforce).await;
    let maps = east.maps("drifts");
    let foreign =
        json!({"data": {"foreign": "kept"}, "metadata": {"annotations": {"foreign": "kept"}}});
    maps.merge("a", foreign).await;
    // Changed, removed, and the whole object deleted.
    maps.merge("a", json!({"data": {"value": "theirs"}})).await;
    maps.becomes("a", "/data/value", "ours").await;
    maps.merge("a", json!({"data": {"value": null}})).await;
    maps.becomes("a", "/data/value", "ours").await;
    assert_eq!(maps.at("a", "/data/foreign").await.unwrap(), "kept");
    assert_eq!(
        maps.at("a", "/metadata/annotations/foreign").await.unwrap(),
        "kept"
    );
    // Its marks changed, and its mark for selection taken away.
    let checksum = json!({"metadata": {"annotations": {"brokkr.io/checksum": "theirs"}}});
    maps.merge("a", checksum).await;
    let sum = shop
        .tenant
        .deployment_newest(shop.id)
        .await
        .unwrap()
        .yaml_checksum;
    maps.becomes(
        "a",
        "/metadata/annotations/brokkr.io~1checksum",
        sum.as_str(),
    )
    .await;
    maps.merge(
        "a",
        json!({"metadata": {"labels": {"brokkr.io/stack-id": null}}}),
    )
    .await;
    maps.becomes(
        "a",
        "/metadata/labels/brokkr.io~1stack-id",
        &shop.id.to_string(),
    )
    .await;
    maps.delete("a").await;
    maps.becomes("a", "/data/value", "ours").await;
    let records = until("the drift to be told", async || {
        let status = east.status_of(&shop).await?;
        let found = fleet.admin.drift_list(&Default::default()).await.unwrap();
        (found.items.len() >= 4).then_some((status, found.items))
    })
    .await
    .1;
    let by_hand = records
        .iter()
        .filter(|found| found.record.manager.as_deref() == Some("by-hand"));
    assert!(by_hand.count() >= 1, "{records:?}");
    assert!(
        records.iter().all(|found| found.record.repaired),
        "{records:?}"
    );
    east.stop().await;
}

async fn drift_is_told_and_left_where_the_mode_says_warn(Ground { fleet, cluster }: Ground) {
    let (east, shop) = delivered(&fleet, "warns", &cluster, DriftMode::Warn).await;
    let maps = east.maps("warns");
    maps.merge("a", json!({"data": {"value": "theirs"}})).await;
    let told = until("the drift to be told", async || {
        east.status_of(&shop).await?.drift
    })
    .await;
    assert!(told.contains("/data/value"), "{told}");
    east.restart().await;
    east.goes_on().await;
    assert_eq!(maps.at("a", "/data/value").await.unwrap(), "theirs");
    east.stop().await;
}

/// Off, then warn, then enforce, on an agent that would repair from the beginning.
async fn what_the_stack_says_of_drift_counts_before_the_agents_mode(
    Ground { fleet, cluster }: Ground,
) {
    let (enforce, off) = (DriftMode::Enforce, Some(DriftMode::Off));
    let (east, shop) = delivered_as(&fleet, "modes", &cluster, enforce, off).await;
    let (maps, query) = (east.maps("modes"), DriftQuery::default());
    maps.merge("a", json!({"data": {"value": "theirs"}})).await;
    east.goes_on().await;
    assert_eq!(maps.at("a", "/data/value").await.unwrap(), "theirs");
    let found = fleet.admin.drift_list(&query).await.unwrap().items;
    assert!(found.is_empty(), "nobody looked: {found:?}");

    shop.decide_on_drift(Some(DriftMode::Warn)).await;
    let told = until("the drift to be told", async || {
        fleet.admin.drift_list(&query).await.unwrap().items.pop()
    })
    .await;
    assert_eq!(
        (told.record.mode, told.record.repaired),
        (DriftMode::Warn, false)
    );
    east.goes_on().await;
    assert_eq!(maps.at("a", "/data/value").await.unwrap(), "theirs");

    shop.decide_on_drift(Some(DriftMode::Enforce)).await;
    maps.becomes("a", "/data/value", "ours").await;
    east.stop().await;
}

/// To force a reconcile, submit the same content again.
async fn the_same_content_again_gets_a_new_id_and_restores(Ground { fleet, cluster }: Ground) {
    let (east, shop) = delivered(&fleet, "again", &cluster, DriftMode::Off).await;
    let maps = east.maps("again");
    maps.merge("a", json!({"data": {"value": "theirs", "foreign": "kept"}}))
        .await;
    east.goes_on().await;
    assert_eq!(maps.at("a", "/data/value").await.unwrap(), "theirs");
    let first = shop.tenant.deployment_newest(shop.id).await.unwrap();
    let same = space("again") + &map("again", "a", "ours");
    let second = shop.submit(&same).await;
    assert!(second.sequence_id > first.sequence_id && second.yaml_checksum == first.yaml_checksum);
    east.reaches(&second).await;
    assert_eq!(
        maps.at("a", "/data").await.unwrap(),
        json!({"value": "ours", "foreign": "kept"})
    );
    east.stop().await;
}

async fn drift_is_repaired_without_the_broker(Ground { fleet, cluster }: Ground) {
    let (east, _shop) = delivered(&fleet, "alone", &cluster, DriftMode::Enforce).await;
    let maps = east.maps("alone");
    fleet.kill_broker().await;
    maps.merge("a", json!({"data": {"value": "theirs"}})).await;
    maps.becomes("a", "/data/value", "ours").await;
    // Also by an agent that starts while the broker is away.
    east.stop().await;
    maps.delete("a").await;
    east.start().await;
    maps.becomes("a", "/data/value", "ours").await;
    east.stop().await;
}
