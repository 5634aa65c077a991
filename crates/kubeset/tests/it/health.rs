//! How a set is doing.

use evenkeel_kubeset::{Health, SetPolicy};
use evenkeel_testkit::on_each_cluster;

use crate::bed::{Bed, settle, short};

#[tokio::test]
async fn a_set_names_its_worst_object_and_why() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "health-worst").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        let text = [
            bed.namespace(),
            bed.map("m", "1"),
            bed.map("gone", "1"),
            bed.deployment("web", 1),
        ]
        .concat();
        settle(&set, &text, &policy).await;
        let health = set.health().await.unwrap();
        let (key, worst) = health.worst().unwrap();
        assert_eq!(short(key), "Deployment web");
        assert_eq!(
            *worst,
            Health::InProgress("its controller has not seen it yet".into())
        );
        assert_eq!(health.current(), 3);
        bed.maps()
            .delete("gone", &Default::default())
            .await
            .unwrap();
        let health = set.health().await.unwrap();
        assert_eq!(*health.worst().unwrap().1, Health::Missing);
    })
    .await;
}

/// What is suspended is not converged, and is watched over all the same.
#[tokio::test]
async fn health_is_told_without_a_pass() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "health-suspended").await;
        let text = [bed.namespace(), bed.map("m", "1"), bed.map("gone", "1")].concat();
        settle(&bed.set("a"), &text, &SetPolicy::default()).await;
        bed.maps()
            .delete("gone", &Default::default())
            .await
            .unwrap();
        let health = bed.restarted().set("a").health().await.unwrap();
        assert_eq!(short(health.worst().unwrap().0), "ConfigMap gone");
        assert_eq!(health.current(), 2);
        assert!(
            bed.maps().get_opt("gone").await.unwrap().is_none(),
            "nothing was done"
        );
    })
    .await;
}
