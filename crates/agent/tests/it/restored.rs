//! A broker that was restored from an older copy of its database knows less than the clusters hold.

use std::fs;
use std::path::Path;

use evenkeel_model::Phase;
use evenkeel_testfleet::{Fleet, Site, Stack, map, space, until};
use evenkeel_testkit::on_each_cluster;
use serde_json::json;

fn url(file: &Path) -> String {
    format!("sqlite://{}", file.display())
}

/// Copies a database that nobody writes to at the moment.
fn copy(from: &Path, to: &Path) {
    for end in ["", "-wal"] {
        let named = |path: &Path| format!("{}{end}", path.display());
        if fs::exists(named(from)).unwrap() {
            fs::copy(named(from), named(to)).unwrap();
        }
    }
}

/// A cluster that holds a second revision of `shop`, and `late`, of which the broker knows
/// nothing: it was restored from a copy that it made before.
struct Restored {
    east: Site,
    shop: Stack,
    first: evenkeel_api::DeploymentObject,
    second: evenkeel_api::DeploymentObject,
}

async fn restored(fleet: &Fleet, east: Site, live: &Path, copied: &Path) -> Restored {
    let shop = fleet.stack("shop").await;
    east.serves(&shop).await;
    let text = |value| space("restored") + &map("restored", "a", value);
    let first = shop.submit(&text("1")).await;
    east.reaches(&first).await;
    fleet.stop_broker().await;
    copy(live, copied);
    fleet.start_broker().await;
    let late = fleet.stack("late").await;
    east.serves(&late).await;
    let second = shop.submit(&text("2")).await;
    east.reaches(&second).await;
    let third = late.submit(&map("restored", "late", "1")).await;
    east.reaches(&third).await;
    fleet.stop_broker().await;
    fleet.start_broker_on(&url(copied)).await;
    Restored {
        east,
        shop,
        first,
        second,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_revision_is_refused_and_nothing_is_taken_back() {
    on_each_cluster(async |cluster| {
        let room = tempfile::tempdir().unwrap();
        let (live, copied) = (room.path().join("live.db"), room.path().join("copied.db"));
        let fleet = Fleet::on(&url(&live)).await;
        let east = fleet.site("restored", cluster).await;
        let Restored {
            east,
            shop,
            first,
            second,
        } = restored(&fleet, east, &live, &copied).await;

        let (old, held) = (first.sequence_id, second.sequence_id);
        let why = format!("refused: revision {old} is older than {held}, which the cluster holds");
        let told = east.fails_with(&first).await;
        assert_eq!(told.message.as_deref(), Some(&*why));
        let status = east.status_of(&shop).await.unwrap();
        assert_eq!(
            (status.phase, status.last_error),
            (Phase::Failed, Some(why))
        );

        // What is held is held: through polls, restarts, and the hands of others.
        let maps = east.maps("restored");
        east.restart().await;
        east.goes_on().await;
        assert_eq!(maps.at("a", "/data/value").await.unwrap(), "2");
        assert!(maps.get("late").await.is_some(), "absence is no order");
        maps.merge("a", json!({"data": {"value": "theirs"}})).await;
        maps.becomes("a", "/data/value", "2").await;

        // The same content counts as soon as its id is a newer one.
        let again = until("the ids to have caught up", async || {
            let again = shop
                .submit(&(space("restored") + &map("restored", "a", "1")))
                .await;
            (again.sequence_id > held).then_some(again)
        })
        .await;
        assert_eq!(again.yaml_checksum, first.yaml_checksum);
        east.reaches(&again).await;
        assert_eq!(maps.at("a", "/data/value").await.unwrap(), "1");
        east.stop().await;
    })
    .await;
}
