//! Volumes grow in place, from wherever a crash left them.

use evenkeel_database_operator::storage::{Step, Storage, decide};
use evenkeel_database_operator::{Children, Database};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use serde_json::json;

use crate::sample::database;

fn sized(size: &str) -> Database {
    database(json!({"replicas": 2, "storage": {"size": size, "class": "fast"}}))
}

fn claim(ordinal: i32, requested: &str, capacity: &str) -> PersistentVolumeClaim {
    serde_json::from_value(json!({
        "metadata": {"name": format!("data-orders-{ordinal}")},
        "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": requested}}},
        "status": {"capacity": {"storage": capacity}},
    }))
    .unwrap()
}

fn look(wanted: &str, claims: &[PersistentVolumeClaim], templated: &str) -> Storage {
    let servers = Children::of(&sized(templated)).servers;
    decide(&sized(wanted), claims, Some(&servers), |class| {
        class == "fast"
    })
}

fn grow(ordinal: i32, from: &str) -> Step {
    Step::Grow {
        claim: format!("data-orders-{ordinal}"),
        from: from.to_owned(),
    }
}

#[test]
fn nothing_is_done_when_the_sizes_mean_the_same() {
    let claims = [claim(0, "1Gi", "1Gi"), claim(1, "1024Mi", "1Gi")];
    assert_eq!(look("1Gi", &claims, "1Gi"), Storage::default());
}

#[test]
fn first_every_claim_then_the_stateful_set_then_nothing() {
    let mut claims = [claim(0, "1Gi", "1Gi"), claim(1, "1Gi", "1Gi")];
    assert_eq!(
        look("2Gi", &claims, "1Gi").steps,
        [grow(0, "1Gi"), grow(1, "1Gi")]
    );
    // A crash after the first claim.
    claims[0] = claim(0, "2Gi", "1Gi");
    let half = look("2Gi", &claims, "1Gi");
    assert_eq!(half.steps, [grow(1, "1Gi")]);
    assert_eq!(half.growing, ["data-orders-0"]);
    // All claims ask for it; now the StatefulSet.
    claims[1] = claim(1, "2Gi", "2Gi");
    assert_eq!(look("2Gi", &claims, "1Gi").steps, [Step::Recreate]);
    // It was made again; the volumes catch up by themselves.
    assert_eq!(look("2Gi", &claims, "2Gi").steps, []);
}

/// A restart right after the StatefulSet was deleted must not forget the claims (rabbitmq#782).
#[test]
fn a_missing_stateful_set_does_not_make_the_claims_forgotten() {
    let claims = [claim(0, "2Gi", "2Gi"), claim(1, "1Gi", "1Gi")];
    let seen = decide(&sized("2Gi"), &claims, None, |_| true);
    assert_eq!(seen.steps, [grow(1, "1Gi")]);
}

#[test]
fn a_rigid_class_is_named_and_nothing_is_touched() {
    let servers = Children::of(&sized("1Gi")).servers;
    let claims = [claim(0, "1Gi", "1Gi")];
    let seen = decide(&sized("2Gi"), &claims, Some(&servers), |_| false);
    assert_eq!(seen.rigid.as_deref(), Some("fast"));
    assert_eq!(seen.steps, []);
}

#[test]
fn a_claim_that_somebody_made_larger_stays_so() {
    let claims = [claim(0, "5Gi", "5Gi")];
    assert_eq!(look("1Gi", &claims, "1Gi"), Storage::default());
}
