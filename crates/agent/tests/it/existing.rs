//! Objects that exist before they are applied: four sorts.

use evenkeel_testfleet::{Ground, map, maps, on_every_ground, space};
use serde_json::json;

on_every_ground! {
    everywhere {
        an_object_without_marks_is_adopted_and_its_other_fields_stay,
        an_object_with_matching_marks_is_left_as_it_is,
        an_object_of_an_earlier_revision_is_updated_or_pruned,
        an_object_with_owner_references_is_not_pruned,
    }
}

async fn an_object_without_marks_is_adopted_and_its_other_fields_stay(
    Ground { fleet, cluster }: Ground,
) {
    let (east, shop) = (
        fleet.site("adopts", &cluster).await,
        fleet.stack("shop").await,
    );
    east.spaces().make("adopted", json!({})).await;
    let maps = east.maps("adopted");
    maps.make("a", json!({"data": {"value": "theirs", "other": "theirs"}}))
        .await;
    east.serves(&shop).await;
    let one = shop.submit(&map("adopted", "a", "ours")).await;
    let event = east.reaches(&one).await;
    assert_eq!(event.message.unwrap(), "adopted 1");
    let object = maps.get("a").await.unwrap();
    assert_eq!(object["data"], json!({"value": "ours", "other": "theirs"}));
    assert_eq!(
        object["metadata"]["annotations"]["brokkr.io/stack-id"],
        shop.id.to_string()
    );
    shop.delete().await;
    maps.is_gone("a").await;
    east.stop().await;
}

async fn an_object_with_matching_marks_is_left_as_it_is(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("matches", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("matched", 2)).await;
    east.reaches(&one).await;
    let before = east.maps("matched").get("m0").await;
    let two = shop.submit(&maps("matched", 2)).await;
    let event = east.reaches(&two).await;
    assert_eq!(event.message.unwrap(), "unchanged 3");
    assert_eq!(east.maps("matched").get("m0").await, before);
    east.stop().await;
}

async fn an_object_of_an_earlier_revision_is_updated_or_pruned(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("earlier", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("earlier", 2)).await;
    east.reaches(&one).await;
    let two = shop
        .submit(&(space("earlier") + &map("earlier", "m0", "2")))
        .await;
    east.reaches(&two).await;
    let maps = east.maps("earlier");
    let object = maps.get("m0").await.unwrap();
    assert_eq!(object["data"]["value"], "2");
    let checksum = &object["metadata"]["annotations"]["brokkr.io/checksum"];
    assert_eq!(*checksum, two.yaml_checksum.as_str());
    assert_eq!(maps.get("m1").await, None);
    east.stop().await;
}

/// Whatever has an owner goes when its owner goes, and not before.
async fn an_object_with_owner_references_is_not_pruned(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("owned", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("owned", 2)).await;
    east.reaches(&one).await;
    let maps = east.maps("owned");
    maps.make("owner", json!({})).await;
    let uid = maps.at("owner", "/metadata/uid").await.unwrap();
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}]);
    maps.merge("m1", json!({"metadata": {"ownerReferences": owner}}))
        .await;
    let two = shop
        .submit(&(space("owned") + &map("owned", "m0", "2")))
        .await;
    let event = east.reaches(&two).await;
    assert!(maps.get("m1").await.is_some(), "{event:?}");
    maps.delete("owner").await;
    maps.is_gone("m1").await;
    east.stop().await;
}
