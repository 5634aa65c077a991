//! What people ask for beyond revisions, and agents that are not to work.

use evenkeel_model::{AgentStatus, ObjectAction};
use evenkeel_testfleet::{Ground, map, maps, on_every_ground, until};
use serde_json::json;

on_every_ground! {
    everywhere {
        an_inactive_agent_does_nothing_until_it_is_made_active,
        a_suspended_stack_is_left_alone_until_it_is_resumed,
        a_revision_that_deletes_too_much_waits_for_approval,
        a_reconcile_that_was_asked_for_restores_whatever_the_mode,
        a_stack_takes_objects_over_from_another,
    }
}

async fn an_inactive_agent_does_nothing_until_it_is_made_active(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("inactive", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("inactive", 1)).await;
    east.reaches(&one).await;
    east.set_status(AgentStatus::Inactive).await;
    east.goes_on().await;
    let two = shop.submit(&maps("inactive", 2)).await;
    let config = east.maps("inactive");
    config
        .merge("m0", json!({"data": {"value": "theirs"}}))
        .await;
    east.goes_on().await;
    east.restart().await;
    east.goes_on().await;
    assert_eq!(config.at("m0", "/data/value").await.unwrap(), "theirs");
    assert_eq!(config.get("m1").await, None);
    east.set_status(AgentStatus::Active).await;
    east.reaches(&two).await;
    config.becomes("m0", "/data/value", "1").await;
    east.stop().await;
}

async fn a_suspended_stack_is_left_alone_until_it_is_resumed(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("suspends", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("suspended", 2)).await;
    east.reaches(&one).await;
    shop.tenant.stack_suspend(shop.id).await.unwrap();
    let waiting = east.waits_with(&shop).await;
    assert!(waiting.contains("suspended"), "{waiting}");
    let config = east.maps("suspended");
    config.delete("m0").await;
    let two = shop.submit(&maps("suspended", 1)).await;
    east.goes_on().await;
    assert_eq!(config.get("m0").await, None);
    assert!(config.get("m1").await.is_some());
    shop.tenant.stack_resume(shop.id).await.unwrap();
    east.reaches(&two).await;
    assert!(config.get("m0").await.is_some());
    assert_eq!(config.get("m1").await, None);
    until("the wait to be over", async || {
        east.status_of(&shop).await?.waiting.is_none().then_some(())
    })
    .await;
    east.stop().await;
}

async fn a_revision_that_deletes_too_much_waits_for_approval(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("brakes", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("braked", 20)).await;
    east.reaches(&one).await;
    let two = shop
        .submit(&(maps("braked", 2) + &map("braked", "new", "1")))
        .await;
    let waiting = east.waits_with(&shop).await;
    assert!(
        waiting.contains("delete 18 objects") && waiting.contains("ConfigMap braked/m"),
        "{waiting}"
    );
    let config = east.maps("braked");
    assert!(
        config.get("new").await.is_some(),
        "everything else of the revision proceeds"
    );
    assert!(config.get("m19").await.is_some());
    shop.tenant.stack_approve(shop.id, None).await.unwrap();
    let event = east.reaches(&two).await;
    assert_eq!(config.get("m19").await, None);
    let told = |action| event.change_counts.get(&action).copied();
    assert_eq!(
        (told(ObjectAction::Deleted), told(ObjectAction::Created)),
        (Some(18), Some(1))
    );
    east.stop().await;
}

async fn a_reconcile_that_was_asked_for_restores_whatever_the_mode(
    Ground { fleet, cluster }: Ground,
) {
    let (east, shop) = (
        fleet.quiet_site("asked", &cluster).await,
        fleet.stack("shop").await,
    );
    east.settings.lock().await.drift = evenkeel_model::DriftMode::Off;
    east.start().await;
    east.serves(&shop).await;
    let one = shop.submit(&maps("asked", 1)).await;
    east.reaches(&one).await;
    let config = east.maps("asked");
    config
        .merge("m0", json!({"data": {"value": "theirs"}}))
        .await;
    east.goes_on().await;
    assert_eq!(config.at("m0", "/data/value").await.unwrap(), "theirs");
    shop.tenant.stack_reconcile(shop.id).await.unwrap();
    config.becomes("m0", "/data/value", "1").await;
    east.stop().await;
}

/// Objects move from one stack to another without being deleted on the way.
async fn a_stack_takes_objects_over_from_another(Ground { fleet, cluster }: Ground) {
    let east = fleet.site("moves", &cluster).await;
    let (old, new) = (fleet.stack("old").await, fleet.stack("new").await);
    east.spaces().make("moved", json!({})).await;
    east.serves(&old).await;
    east.serves(&new).await;
    let one = old
        .submit(&(map("moved", "a", "1") + &map("moved", "stays", "1")))
        .await;
    east.reaches(&one).await;
    let uid = east.maps("moved").at("a", "/metadata/uid").await;
    let taken = evenkeel_api::NewDeployment {
        yaml_content: map("moved", "a", "1"),
        take_from: vec![old.id],
        ..Default::default()
    };
    let two = new.submit_as(&taken).await;
    east.reaches(&two).await;
    let three = old.submit(&map("moved", "stays", "2")).await;
    east.reaches(&three).await;
    let object = east.maps("moved").get("a").await.unwrap();
    assert_eq!(
        object["metadata"]["annotations"]["brokkr.io/stack-id"],
        new.id.to_string()
    );
    assert_eq!(Some(object["metadata"]["uid"].clone()), uid);
    east.stop().await;
}
