//! Agents and brokers that stop, are killed, and come back; two replicas.

use std::sync::Arc;

use evenkeel_agent::Parts;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_kubesim::faults::{Fault, Moment, Which};
use evenkeel_testfleet::{Fleet, map, maps, space, until};
use evenkeel_testkit::{Cluster, Postgres, on_each_cluster, skip};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The life of a stack with a restart of the agent between any two steps.
async fn life(fleet: &Fleet, cluster: &Cluster, name: &str) {
    let (east, shop) = (fleet.site(name, cluster).await, fleet.stack("shop").await);
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

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_restarted_between_any_two_steps_arrives() {
    on_each_cluster(async |cluster| life(&Fleet::start().await, cluster, "life").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_life_with_a_broker_on_postgresql() {
    let database = match Postgres::shared().await {
        Ok(postgres) => postgres.database().await.unwrap(),
        Err(error) => return skip(&error.to_string()),
    };
    let fleet = Fleet::on(&database).await;
    life(&fleet, &Cluster::simulated(), "life-postgres").await;
}

/// The agent's process dies at each of its writes in turn: before it is done, after, and before it
/// hears of it. The next one arrives, and then has nothing left to do.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_killed_at_any_write_leaves_nothing_behind() {
    for moment in [Moment::BeforeCommit, Moment::BeforeReply] {
        for write in [4, 6, 8, 10] {
            let (fleet, cluster) = (Fleet::start().await, Cluster::simulated());
            let (east, shop) = (
                fleet.quiet_site("killed", &cluster).await,
                fleet.stack("shop").await,
            );
            east.settings.lock().await.lease_seconds = 3;
            east.serves(&shop).await;
            let one = shop.submit(&maps("killed", 3)).await;
            east.view().crash_at(write, moment);
            east.start().await;
            tokio::select! {
                () = east.view().crashed() => {}
                _ = east.reaches(&one) => {}
            }
            east.kill().await;
            east.view().heal();
            let two = shop
                .submit(&(space("killed") + &map("killed", "m0", "2")))
                .await;
            east.start().await;
            east.reaches(&two).await;
            let names = east.maps("killed").names().await;
            assert_eq!(
                names.iter().filter(|name| name.starts_with('m')).count(),
                1,
                "{names:?}"
            );
            east.goes_on().await;
            east.writes();
            east.goes_on().await;
            assert_eq!(east.writes(), 0, "killed at write {write}, {moment:?}");
            east.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_comes_back_hears_what_happened_meanwhile() {
    on_each_cluster(async |cluster| {
        let fleet = Fleet::start().await;
        let (east, shop) = (
            fleet.site("meanwhile", cluster).await,
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
    })
    .await;
}

/// What was done and could not be told before the end is told after the next start.
#[tokio::test(flavor = "multi_thread")]
async fn status_is_reported_again_at_start() {
    on_each_cluster(async |cluster| {
        let fleet = Fleet::start().await;
        let (east, shop) = (fleet.site("told", cluster).await, fleet.stack("shop").await);
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
    })
    .await;
}

/// Two replicas with one key: one works, the other waits, and takes over when the first is gone.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_replicas_one_works_and_the_other_takes_over() {
    let (fleet, cluster) = (Fleet::start().await, Cluster::simulated());
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
#[tokio::test(flavor = "multi_thread")]
async fn what_was_told_is_kept_as_secrets_and_nowhere_else() {
    const TEXT: &str = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}\nstringData: {password: hunter2}\n";
    let (fleet, cluster) = (Fleet::start().await, Cluster::simulated());
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
