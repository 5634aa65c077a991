//! The same lease in a real cluster.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_lease::{Elector, LeaseName, Led, Timing};
use evenkeel_testkit::{Cluster, on_each_cluster};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_lease_passes_from_hand_to_hand() {
    on_each_cluster(async |cluster| {
        let one = elector(cluster, "one").await;
        let two = elector(cluster, "two").await;
        let stop = CancellationToken::new();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let stop_one = CancellationToken::new();
        let first = one.lead(&stop, |_| async {
            begun.send(()).unwrap();
            stop_one.cancelled().await;
        });
        let second = async {
            has_begun.await.unwrap();
            let waiting = two.lead(&stop, |_| async { stop_one.is_cancelled() });
            tokio::pin!(waiting);
            let early = tokio::time::timeout(Duration::from_secs(3), &mut waiting).await;
            assert!(early.is_err(), "the lease is held");
            stop_one.cancel();
            waiting.await
        };
        assert_eq!(
            tokio::join!(first, second),
            (Led::Finished(()), Led::Finished(true))
        );
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_nobody_renews_is_taken() {
    on_each_cluster(async |cluster| {
        let (one, two) = (
            elector(cluster, "three").await,
            elector(cluster, "four").await,
        );
        let stop = CancellationToken::new();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let holder = tokio::spawn(async move {
            let never = CancellationToken::new();
            let work = |_| async {
                begun.send(()).unwrap();
                never.cancelled().await;
            };
            one.lead(&never, work).await
        });
        has_begun.await.unwrap();
        holder.abort();
        assert_eq!(two.lead(&stop, |_| async {}).await, Led::Finished(()));
    })
    .await;
}

async fn elector(cluster: &Cluster, who: &str) -> Elector {
    let lease = LeaseName {
        namespace: "default".to_owned(),
        name: format!(
            "lease-{}",
            if matches!(who, "one" | "two") {
                "a"
            } else {
                "b"
            }
        ),
    };
    let client = cluster.client().await;
    let dice = Arc::new(SystemRandom);
    Elector::new(client, &lease, who, Arc::new(SystemClock), dice).timing(Timing::seconds(3))
}
