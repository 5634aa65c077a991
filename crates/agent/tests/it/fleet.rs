//! Many clusters, one broker, one process.

use evenkeel_testfleet::crowd::Crowd;
use evenkeel_testfleet::maps;
use evenkeel_testkit::note;
use tokio::time::Instant;

const CLUSTERS: usize = 100;

/// Tells how long something took, as a row of a table.
fn row(what: &str, took: std::time::Duration) {
    let seconds = took.as_secs_f64();
    note(&format_args!(
        "{CLUSTERS} clusters, one broker, one process: {what:<26} {seconds:>7.2} s"
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_for_a_hundred_clusters_arrives_in_all_of_them() {
    let begun = Instant::now();
    let crowd = Crowd::start(CLUSTERS).await;
    row("1 agents started", begun.elapsed());
    row(
        "2 first revision delivered",
        crowd.delivers(&maps("many", 5)).await,
    );
    for site in &crowd.sites {
        let value = site.maps("many").at("m4", "/data/value").await;
        assert_eq!(value.unwrap(), "1");
    }
    let next = maps("many", 3).replace("\"1\"", "\"2\"");
    row("3 update and prune", crowd.delivers(&next).await);
    for site in &crowd.sites {
        let maps = site.maps("many");
        assert_eq!(maps.get("m4").await, None);
        assert_eq!(maps.at("m2", "/data/value").await.unwrap(), "2");
    }
    row("4 removed", crowd.removes().await);
    for site in &crowd.sites {
        assert_eq!(site.spaces().get("many").await, None);
    }
    crowd.stop().await;
}
