//! Agents and brokers that stop, are killed, and come back; two replicas.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_agent::Parts;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_kubesim::faults::{Fault, Which};
use evenkeel_testfleet::{Ground, map, maps, on_every_ground, until};
use evenkeel_testkit::Cluster;
use serde_json::json;
use tokio_util::sync::CancellationToken;

on_every_ground! {
    everywhere {
        an_agent_restarted_between_any_two_steps_arrives,
        a_broker_that_comes_back_hears_what_happened_meanwhile,
        status_is_reported_again_at_start,
    }
    simulated {
        an_agent_waits_for_its_cluster_and_its_broker,
        what_is_under_way_at_the_end_is_ended_and_told,
        of_two_replicas_one_works_and_the_other_takes_over,
        what_was_told_is_kept_as_secrets_and_nowhere_else,
    }
}

/// The life of a stack with a restart of the agent between any two steps.
async fn an_agent_restarted_between_any_two_steps_arrives(Ground { fleet, cluster }: Ground) {
    let name = "life";
    let (east, shop) = (fleet.site(name, &cluster).await, fleet.stack("shop").await);
    east.serves(&shop).await;
    east.restart().await;
    let one = shop.submit(&maps(name, 3)).await;
    east.reaches(&one).await;
    east.restart().await;
    let two = shop.submit(&maps(name, 2)).await;
    east.restart().await;
    east.reaches(&two).await;
    assert_eq!(east.maps(name).get("m2").await, None);
    east.stop().await;
    east.maps(name)
        .merge("m0", json!({"data": {"value": "theirs"}}))
        .await;
    east.start().await;
    east.maps(name).becomes("m0", "/data/value", "1").await;
    east.serves_no_more(&shop).await;
    east.restart().await;
    east.confirms_removal(&shop).await;
    east.spaces().is_gone(name).await;
    east.restart().await;
    east.serves(&shop).await;
    east.restart().await;
    east.maps(name).becomes("m1", "/data/value", "1").await;
    shop.delete().await;
    east.restart().await;
    east.spaces().is_gone(name).await;
    east.confirms_removal(&shop).await;
    east.stop().await;
}

async fn a_broker_that_comes_back_hears_what_happened_meanwhile(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("meanwhile", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("meanwhile", 1)).await;
    east.reaches(&one).await;
    fleet.stop_broker().await;
    east.maps("meanwhile")
        .merge("m0", json!({"data": {"value": "theirs"}}))
        .await;
    east.maps("meanwhile")
        .becomes("m0", "/data/value", "1")
        .await;
    fleet.start_broker().await;
    until("the repair to be told", async || {
        let events = east.events_of(&one).await;
        (events.len() > 1).then_some(())
    })
    .await;
    let two = shop.submit(&maps("meanwhile", 2)).await;
    east.reaches(&two).await;
    east.stop().await;
}

/// What was done and could not be told before the end is told after the next start.
async fn status_is_reported_again_at_start(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("told", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("told", 1)).await;
    east.reaches(&one).await;
    east.stop().await;
    let before = east.events_of(&one).await.len();
    east.start().await;
    until("the status to be told again", async || {
        (east.events_of(&one).await.len() > before).then_some(())
    })
    .await;
    assert_eq!(east.holds(&shop, one.sequence_id).await.last_error, None);
    east.stop().await;
}

async fn an_agent_waits_for_its_cluster_and_its_broker(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.quiet_site("waits", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(&maps("waits", 1)).await;
    fleet.stop_broker().await;
    east.view().fault(Which::all(), Fault::LoseRequest);
    east.start().await;
    let asked = async |times| {
        until("the agent to have asked", async || {
            (east.view().log().requests() >= times).then_some(())
        })
        .await;
    };
    asked(3).await;
    east.view().heal();
    // It settles in, stands for its lease, and has nobody to ask what to do.
    let leases = east.objects("coordination.k8s.io/v1", "Lease", "agent-waits");
    until("the agent to hold its lease", async || {
        leases.get("waits").await
    })
    .await;
    assert_eq!(east.spaces().get("waits").await, None);
    fleet.start_broker().await;
    east.reaches(&one).await;
    east.stop().await;
}

/// Whoever is told to stop ends what it has begun, and says so.
async fn what_is_under_way_at_the_end_is_ended_and_told(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("drains", &cluster).await,
        fleet.stack("shop").await,
    );
    let slow = Fault::Delay(Duration::from_millis(400));
    east.view()
        .fault(Which::writes().of("", "configmaps"), slow);
    east.serves(&shop).await;
    let one = shop.submit(&maps("drains", 3)).await;
    until("it to be at it", async || east.spaces().get("drains").await).await;
    assert_eq!(east.maps("drains").get("m2").await, None);
    east.stop().await;
    assert!(east.maps("drains").get("m2").await.is_some());
    let told = east.events_of(&one).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].message.as_deref(), Some("created 4"));
}

/// Two replicas with one key: one works, the other waits, and takes over when the first is gone.
async fn of_two_replicas_one_works_and_the_other_takes_over(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.quiet_site("replicas", &cluster).await,
        fleet.stack("shop").await,
    );
    east.settings.lock().await.lease_seconds = 3;
    east.start().await;
    east.serves(&shop).await;
    let one = shop.submit(&maps("replicas", 2)).await;
    east.reaches(&one).await;

    let Cluster::Simulated(simulated) = &cluster else {
        unreachable!("made so");
    };
    let other = simulated.cluster().view("replica");
    let stop = CancellationToken::new();
    let parts = Parts {
        settings: east.settings.lock().await.clone(),
        broker: east.broker().clone(),
        cluster: kube::Client::new(other.clone(), "default"),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        vitals: None,
    };
    let replica = tokio::spawn(evenkeel_agent::run(parts, stop.clone()));
    east.goes_on().await;
    assert_eq!(other.log().writes(), 0, "one that waits writes nothing");

    // The first cannot reach its lease any more, though it can reach all else.
    let leases = Which::all().of("coordination.k8s.io", "leases");
    east.view().fault(leases, Fault::LoseRequest);
    until("the other to take over", async || {
        (other.log().writes() > 0).then_some(())
    })
    .await;
    east.writes();
    let two = shop
        .submit(&(maps("replicas", 2) + &map("replicas", "later", "1")))
        .await;
    east.reaches(&two).await;
    assert_eq!(east.writes(), 0, "no write after a lost lease");
    stop.cancel();
    replica.await.unwrap().unwrap();
    east.kill().await;
}

/// What the agent was told is kept in Secrets, and nothing of it anywhere else in the cluster.
async fn what_was_told_is_kept_as_secrets_and_nowhere_else(Ground { fleet, cluster }: Ground) {
    const TEXT: &str = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}\nstringData: {password: hunter2}\n";
    let (east, shop) = (
        fleet.site("keeps", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop.submit(TEXT).await;
    east.reaches(&one).await;
    let secrets = east.objects("v1", "Secret", "agent-keeps");
    assert_eq!(secrets.names().await.len(), 2, "an index and one text");
    let maps = east.maps("agent-keeps");
    for name in maps.names().await {
        let map = maps.get(&name).await.unwrap().to_string();
        assert!(!map.contains("hunter2"), "{map}");
    }
    shop.delete().await;
    east.confirms_removal(&shop).await;
    until("the text to be forgotten", async || {
        (secrets.names().await.len() == 1).then_some(())
    })
    .await;
    east.stop().await;
}
