//! Polling, ordering, and the stages of applying.

use evenkeel_testfleet::{Fleet, map, maps};
use evenkeel_testkit::on_each_cluster;

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_is_applied_with_its_marks_and_reported() {
    on_each_cluster(async |cluster| {
        let fleet = Fleet::start().await;
        let east = fleet.site("applies", cluster).await;
        let shop = fleet.stack("shop").await;
        east.serves(&shop).await;
        let one = shop.submit(&maps("applied", 2)).await;
        let event = east.reaches(&one).await;
        assert_eq!(event.changes.len(), 3);
        let object = east.maps("applied").get("m0").await.unwrap();
        let annotations = &object["metadata"]["annotations"];
        assert_eq!(annotations["brokkr.io/stack-id"], shop.id.to_string());
        assert_eq!(
            annotations["brokkr.io/checksum"],
            one.yaml_checksum.as_str()
        );
        assert_eq!(
            object["metadata"]["labels"]["brokkr.io/stack-id"],
            shop.id.to_string()
        );
        east.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_changes_adds_and_prunes() {
    on_each_cluster(async |cluster| {
        let fleet = Fleet::start().await;
        let east = fleet.site("updates", cluster).await;
        let shop = fleet.stack("shop").await;
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
        let message = event.message.unwrap();
        assert_eq!(message, "created 1, updated 2, deleted 1");
        east.stop().await;
    })
    .await;
}
