//! Polling, ordering, and the stages of applying.

use evenkeel_testfleet::{Ground, map, maps, on_every_ground, space};

on_every_ground! {
    everywhere {
        a_revision_is_applied_with_its_marks_and_reported,
        two_polls_in_a_row_change_nothing,
        an_update_changes_adds_and_prunes,
        only_the_most_recent_revision_is_applied,
        priority_resources_are_applied_first,
        stacks_of_one_agent_do_not_touch_each_other,
    }
    simulated {
        an_agent_at_rest_asks_the_cluster_for_nothing,
    }
}

async fn a_revision_is_applied_with_its_marks_and_reported(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("applies", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("applied", 2)).await;
    let event = east.reaches(&one).await;
    assert_eq!(event.changes.len(), 3);
    let object = east.maps("applied").get("m0").await.unwrap();
    let (metadata, stack) = (&object["metadata"], shop.id.to_string());
    assert_eq!(metadata["annotations"]["brokkr.io/stack-id"], stack);
    assert_eq!(
        metadata["annotations"]["brokkr.io/checksum"],
        one.yaml_checksum.as_str()
    );
    assert_eq!(metadata["labels"]["brokkr.io/stack-id"], stack);
    east.stop().await;
}

async fn two_polls_in_a_row_change_nothing(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("polls", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("polled", 5)).await;
    east.reaches(&one).await;
    let revision = async || {
        east.maps("polled")
            .at("m0", "/metadata/resourceVersion")
            .await
    };
    let before = revision().await;
    east.goes_on().await;
    assert_eq!(revision().await, before);
    assert_eq!(
        east.events_of(&one).await.len(),
        1,
        "nothing happened, so nothing is told"
    );
    east.stop().await;
}

/// At rest only the lease is renewed and the version asked for: no list, no read, no write.
async fn an_agent_at_rest_asks_the_cluster_for_nothing(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("rests", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("rested", 5)).await;
    east.reaches(&one).await;
    east.goes_on().await;
    east.view().reset_log();
    east.goes_on().await;
    let log = east.view().log();
    let asked: Vec<_> = log
        .entries()
        .map(|entry| entry.call.resource.to_string())
        .collect();
    assert!(
        asked.iter().all(|resource| resource.contains("leases")),
        "{asked:?}"
    );
    east.stop().await;
}

async fn an_update_changes_adds_and_prunes(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("updates", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("updated", 2)).await;
    east.reaches(&one).await;
    let next = maps("updated", 1) + &map("updated", "m2", "1");
    let two = shop.submit(&next.replace("\"1\"", "\"2\"")).await;
    let event = east.reaches(&two).await;
    let maps = east.maps("updated");
    let names = maps.names().await;
    assert!(!names.contains(&"m1".to_owned()) && names.contains(&"m2".to_owned()));
    assert_eq!(maps.at("m0", "/data/value").await.unwrap(), "2");
    assert_eq!(event.message.unwrap(), "created 1, updated 2, deleted 1");
    east.stop().await;
}

async fn only_the_most_recent_revision_is_applied(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.quiet_site("newest", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop
        .submit(&(space("newest") + &map("newest", "first", "1")))
        .await;
    let two = shop
        .submit(&(space("newest") + &map("newest", "second", "2")))
        .await;
    assert!(one.sequence_id < two.sequence_id);
    east.start().await;
    east.reaches(&two).await;
    assert_eq!(east.maps("newest").get("first").await, None);
    assert!(
        east.events_of(&one).await.is_empty(),
        "history is not attempted"
    );
    east.stop().await;
}

/// Namespaces and definitions come first, wherever they stand in the text.
async fn priority_resources_are_applied_first(Ground { fleet, cluster }: Ground) {
    const TEXT: &str = "
apiVersion: agents.example.com/v1
kind: Sail
metadata: {name: jib, namespace: priority}
spec: {area: 12}
---
apiVersion: v1
kind: Namespace
metadata: {name: priority}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sails.agents.example.com}
spec:
  group: agents.example.com
  scope: Namespaced
  names: {plural: sails, singular: sail, kind: Sail}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {area: {type: integer}}}}}}
";
    let (east, shop) = (
        fleet.site("priority", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(TEXT).await;
    let event = east.reaches(&one).await;
    assert_eq!(event.message.unwrap(), "created 3");
    let sails = east.objects("agents.example.com/v1", "Sail", "priority");
    assert_eq!(sails.at("jib", "/spec/area").await.unwrap(), 12);
    shop.delete().await;
    sails.is_gone("jib").await;
    east.cluster_objects("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        .is_gone("sails.agents.example.com")
        .await;
    east.stop().await;
}

async fn stacks_of_one_agent_do_not_touch_each_other(Ground { fleet, cluster }: Ground) {
    let east = fleet.site("neighbours", &cluster).await;
    let (shop, bank) = (fleet.stack("shop").await, fleet.stack("bank").await);
    east.serves(&shop).await;
    east.serves(&bank).await;
    let one = shop.submit(&maps("neighbour-a", 2)).await;
    let two = bank.submit(&maps("neighbour-b", 2)).await;
    east.reaches(&one).await;
    east.reaches(&two).await;
    let three = bank
        .submit(&(space("neighbour-b") + &map("neighbour-a", "m0", "stolen")))
        .await;
    let event = east.fails_with(&three).await;
    let message = event.message.unwrap();
    assert!(
        message.contains(&format!("belongs to {}", shop.id)),
        "{message}"
    );
    assert_eq!(
        east.maps("neighbour-a")
            .at("m0", "/data/value")
            .await
            .unwrap(),
        "1"
    );
    east.stop().await;
}
