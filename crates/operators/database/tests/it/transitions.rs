//! The same specification by any path gives the same world, and a bad one can be taken back.

use evenkeel_ambient::{Random, SeededRandom};
use evenkeel_testkit::Cluster;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::bed::Bed;
use crate::sample::full;
use crate::world::children;

const A_WHILE: Duration = Duration::from_secs(200);

/// What people may set and unset again at any time, also places that no node offers.
fn changeable() -> Vec<(String, Value)> {
    let whole = serde_json::to_value(full().spec).unwrap();
    let fixed = [
        "version",
        "storage",
        "database",
        "owner",
        "passwordSecretRef",
    ];
    let fields = whole.as_object().unwrap().clone().into_iter();
    fields
        .filter(|(field, _)| !fixed.contains(&field.as_str()))
        .collect()
}

/// Some of the fields, as the dice fall.
fn some(dice: &SeededRandom) -> Value {
    let mut spec = json!({});
    for (field, value) in changeable() {
        if dice.unit() < 0.4 {
            spec[field] = value;
        }
    }
    spec
}

#[tokio::test(start_paused = true)]
async fn whatever_came_before_the_last_specification_leaves_no_trace() {
    for seed in 0..6 {
        let dice = SeededRandom::new(seed);
        let (wandering, direct) = (
            Bed::on(&Cluster::simulated_alive(), "path").await,
            Bed::on(&Cluster::simulated_alive(), "path").await,
        );
        let operators = (wandering.operate(), direct.operate());
        for _ in 0..3 {
            wandering.declare(some(&dice)).await;
            sleep(A_WHILE).await;
        }
        let last = some(&dice);
        wandering.declare(last.clone()).await;
        direct.declare(last.clone()).await;
        sleep(A_WHILE).await;
        let (arrived, made) = (children(&wandering).await, children(&direct).await);
        for (name, child) in &made {
            assert_eq!(arrived.get(name), Some(child), "{name} of {last}");
        }
        assert_eq!(arrived.len(), made.len(), "{last}");
        // Where no node fits, servers that were there before run on.
        let anywhere = last.get("nodeSelector").or(last.get("affinity")).is_none();
        let readiness = (wandering.says("Ready").await, direct.says("Ready").await);
        assert!(
            !anywhere || readiness.0 == readiness.1,
            "{last}: {readiness:?}"
        );
        operators.0.stop().await;
        operators.1.stop().await;
    }
}

/// A specification that the server refuses is reported, the last good one goes on, and taking it
/// back is all that is needed.
#[tokio::test(start_paused = true)]
async fn a_bad_specification_is_reported_and_can_be_taken_back() {
    let bed = Bed::on(&Cluster::simulated_alive(), "rollback").await;
    let operator = bed.operate();
    bed.declare(json!({})).await;
    bed.until_ready().await;
    let good = children(&bed).await;
    bed.declare(json!({"podLabels": {"no such/label name": "x"}}))
        .await;
    bed.until_it_says("Accepted", "False", "Refused").await;
    assert_eq!(children(&bed).await, good);
    bed.declare(json!({})).await;
    bed.until_it_says("Accepted", "True", "Accepted").await;
    bed.until_ready().await;
    assert_eq!(children(&bed).await, good);
    operator.stop().await;
}
