//! Deletion markers, tombstones, and what absence does not mean.

use evenkeel_api::ListQuery;
use evenkeel_model::EventStatus;
use evenkeel_testfleet::{Ground, map, maps, on_every_ground, space};
use evenkeel_testkit::Cluster;
use serde_json::json;

on_every_ground! {
    everywhere {
        a_deleted_stack_is_removed_and_that_is_reported,
        an_agent_that_was_offline_finds_the_deletion_marker,
        only_what_carries_the_stacks_mark_is_deleted,
        a_removed_target_removes_the_stack_from_that_agent_only,
        a_stack_that_is_tied_again_returns,
        a_namespace_with_objects_of_others_waits_for_approval,
    }
}

async fn a_deleted_stack_is_removed_and_that_is_reported(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("deletes", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("deleted", 12)).await;
    east.reaches(&one).await;
    shop.delete().await;
    east.spaces().is_gone("deleted").await;
    east.confirms_removal(&shop).await;
    let all = ListQuery::default();
    let events = fleet.admin.agent_events(east.id(), &all).await.unwrap();
    let last = events.items.into_iter().next().unwrap();
    assert_eq!(last.event_type, "DELETE");
    assert_eq!(last.status, EventStatus::Success);
    assert_eq!(last.message.unwrap(), "deleted 13");
    east.stop().await;
}

async fn an_agent_that_was_offline_finds_the_deletion_marker(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("offline", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("offline", 2)).await;
    east.reaches(&one).await;
    east.stop().await;
    shop.delete().await;
    east.start().await;
    east.spaces().is_gone("offline").await;
    east.confirms_removal(&shop).await;
    east.stop().await;
}

async fn only_what_carries_the_stacks_mark_is_deleted(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("marked", &cluster).await,
        fleet.stack("shop").await,
    );
    east.spaces().make("marked", json!({})).await;
    east.serves(&shop).await;
    let one = shop.submit(&map("marked", "a", "1")).await;
    east.reaches(&one).await;
    let maps = east.maps("marked");
    // Controllers copy labels to what they make; the annotation alone says whose it is.
    let label = json!({"brokkr.io/stack-id": shop.id.to_string()});
    maps.make("labelled", json!({"metadata": {"labels": label}}))
        .await;
    maps.make("foreign", json!({})).await;
    shop.delete().await;
    maps.is_gone("a").await;
    east.confirms_removal(&shop).await;
    let names = maps.names().await;
    assert!(
        names.contains(&"labelled".to_owned()) && names.contains(&"foreign".to_owned()),
        "{names:?}"
    );
    east.stop().await;
}

async fn a_removed_target_removes_the_stack_from_that_agent_only(
    Ground { fleet, cluster }: Ground,
) {
    let (east, shop) = (
        fleet.site("untied", &cluster).await,
        fleet.stack("shop").await,
    );
    let elsewhere = Cluster::simulated();
    let west = fleet.site("untied-west", &elsewhere).await;
    east.serves(&shop).await;
    west.serves(&shop).await;
    let one = shop.submit(&maps("untied", 2)).await;
    east.reaches(&one).await;
    west.reaches(&one).await;
    east.serves_no_more(&shop).await;
    east.spaces().is_gone("untied").await;
    east.confirms_removal(&shop).await;
    assert!(west.maps("untied").get("m0").await.is_some());
    east.stop().await;
    west.stop().await;
}

async fn a_stack_that_is_tied_again_returns(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("retied", &cluster).await,
        fleet.stack("shop").await,
    );
    east.spaces().make("retied", json!({})).await;
    east.serves(&shop).await;
    let one = shop.submit(&map("retied", "a", "1")).await;
    east.reaches(&one).await;
    east.serves_no_more(&shop).await;
    east.confirms_removal(&shop).await;
    assert_eq!(east.maps("retied").get("a").await, None);
    // The revision is older than the tombstone, and holds all the same.
    east.serves(&shop).await;
    east.maps("retied").becomes("a", "/data/value", "1").await;
    east.holds(&shop, one.sequence_id).await;
    east.stop().await;
}

/// Everything that a stack had goes, but what somebody else put into its namespace is not lost
/// without a person's word.
async fn a_namespace_with_objects_of_others_waits_for_approval(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("guarded", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop
        .submit(&(space("guarded") + &map("guarded", "a", "1")))
        .await;
    east.reaches(&one).await;
    east.maps("guarded").make("foreign", json!({})).await;
    shop.submit_as(&evenkeel_api::NewDeployment {
        is_deletion_marker: true,
        ..Default::default()
    })
    .await;
    east.maps("guarded").is_gone("a").await;
    let waiting = east.waits_with(&shop).await;
    assert!(waiting.contains("Namespace guarded"), "{waiting}");
    assert!(east.maps("guarded").get("foreign").await.is_some());
    shop.tenant.stack_approve(shop.id, None).await.unwrap();
    east.spaces().is_gone("guarded").await;
    east.stop().await;
}
