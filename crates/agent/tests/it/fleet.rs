//! Many clusters, one broker, one process.

use evenkeel_testfleet::{Fleet, maps};
use evenkeel_testkit::Cluster;
use futures::future::join_all;

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_for_twenty_clusters_arrives_in_all_of_them() {
    let fleet = Fleet::start().await;
    let shop = fleet.stack("shop").await;
    let names: Vec<_> = (0..20).map(|number| format!("many-{number}")).collect();
    let clusters: Vec<_> = names.iter().map(|_| Cluster::simulated()).collect();
    let sites = join_all(
        names
            .iter()
            .zip(&clusters)
            .map(|(name, cluster)| fleet.site(name, cluster)),
    )
    .await;
    join_all(sites.iter().map(|site| site.serves(&shop))).await;
    let one = shop.submit(&maps("many", 5)).await;
    join_all(sites.iter().map(|site| site.reaches(&one))).await;
    for site in &sites {
        assert_eq!(
            site.maps("many").at("m4", "/data/value").await.unwrap(),
            "1"
        );
    }
    assert!(
        shop.status()
            .await
            .iter()
            .all(|status| status.applied == Some(one.sequence_id))
    );
    join_all(sites.iter().map(|site| site.stop())).await;
}
