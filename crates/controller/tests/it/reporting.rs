//! What a controller says, and when it says nothing.

use std::sync::Arc;

use evenkeel_controller::{Context, Error, Outcome, Ran, ReasonWord, Revision, Status, Verdict};
use evenkeel_kubesim::faults::{Fault, Refusal, Which};
use jiff::SignedDuration;
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;

use crate::bed::{Bed, Probe, Prober, a_moment, seconds};

/// Ready when the value is even.
async fn judge(probe: Arc<Probe>, cx: Context) -> Ran<Error> {
    let (status, reason) = match probe.spec.value % 2 {
        0 => (Status::True, ReasonWord::of("Even")),
        _ => (Status::False, ReasonWord::of("Odd")),
    };
    let verdict = Verdict {
        kind: "Ready".into(),
        status,
        reason,
        message: format!("the value is {}", probe.spec.value),
    };
    cx.set_status(&*probe, [verdict], |status| {
        status.seen = Some(probe.spec.value);
    })
    .await?;
    Ok(Outcome::Done)
}

async fn events(bed: &Bed) -> Vec<String> {
    let events: Api<Event> = Api::namespaced(bed.admin(), "default");
    let mut all = events
        .list(&ListParams::default())
        .await
        .expect("events")
        .items;
    all.sort_by_key(|event| Revision::of(event).map(Revision::get));
    all.into_iter().filter_map(|event| event.reason).collect()
}

#[tokio::test(start_paused = true)]
async fn a_status_is_written_when_it_changes_and_only_then() {
    let bed = Bed::new().await;
    bed.probe("a", 2).await;
    let prober = Prober::doing(judge);
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    let first = bed.probes().get("a").await.unwrap();
    let condition = first.status.as_ref().unwrap().conditions[0].clone();
    assert_eq!(
        (condition.status, condition.observed_generation),
        (Status::True, Some(1))
    );
    bed.view.reset_log();
    bed.clock.advance(SignedDuration::from_hours(1));
    seconds(36_000).await;
    assert!(prober.runs_of("a") > 50);
    assert_eq!(bed.view.log().writes(), 0);
    assert_eq!(
        bed.probes()
            .get("a")
            .await
            .unwrap()
            .metadata
            .resource_version,
        first.metadata.resource_version
    );
}

#[tokio::test(start_paused = true)]
async fn the_transition_time_moves_with_the_status_alone() {
    let bed = Bed::new().await;
    bed.probe("a", 2).await;
    let _working = bed.runs(Prober::doing(judge).controller());
    seconds(1).await;
    let condition = |probe: Probe| probe.status.unwrap().conditions[0].clone();
    let before = condition(bed.probes().get("a").await.unwrap());
    bed.clock.advance(SignedDuration::from_hours(1));
    bed.probe("a", 4).await;
    a_moment().await;
    let same = condition(bed.probes().get("a").await.unwrap());
    assert_eq!(same.last_transition_time, before.last_transition_time);
    assert_eq!(same.observed_generation, Some(2));
    bed.probe("a", 5).await;
    a_moment().await;
    let other = condition(bed.probes().get("a").await.unwrap());
    assert!(other.last_transition_time > before.last_transition_time);
}

#[tokio::test(start_paused = true)]
async fn people_are_told_of_transitions_and_of_nothing_else() {
    let bed = Bed::new().await;
    let _working = bed.runs(Prober::doing(judge).controller());
    for value in [2, 4, 6, 7, 9, 10] {
        bed.probe("a", value).await;
        seconds(5).await;
    }
    assert_eq!(events(&bed).await, ["Even", "Odd", "Even"]);
}

#[tokio::test(start_paused = true)]
async fn that_an_event_cannot_be_written_is_no_failure() {
    let bed = Bed::new().await;
    bed.view.fault(
        Which::all().of("events.k8s.io", "events"),
        Fault::Refuse(Refusal::code(500)),
    );
    let prober = Prober::doing(judge);
    let _working = bed.runs(prober.controller());
    bed.probe("a", 2).await;
    seconds(60).await;
    assert_eq!(prober.runs_of("a"), 1);
    assert!(bed.probes().get("a").await.unwrap().status.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_no_failure_and_the_newer_version_wins() {
    let bed = Bed::new().await;
    let other = bed.probes();
    let prober = Prober::doing(move |probe, cx| {
        let other = other.clone();
        async move {
            if probe.spec.value == 1 {
                // Somebody is quicker.
                let change = Patch::Merge(json!({"spec": {"value": 2}}));
                other
                    .patch("a", &PatchParams::default(), &change)
                    .await
                    .unwrap();
            }
            judge(probe, cx).await
        }
    });
    let _working = bed.runs(prober.controller());
    bed.probe("a", 1).await;
    seconds(5).await;
    assert_eq!(
        bed.probes().get("a").await.unwrap().status.unwrap().seen,
        Some(2)
    );
    assert_eq!(prober.runs_of("a"), 2);
}

#[tokio::test(start_paused = true)]
async fn other_finalizers_are_left_alone() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let foreign = Patch::Merge(json!({"metadata": {"finalizers": ["theirs.io/x"]}}));
    bed.probes()
        .patch("a", &PatchParams::default(), &foreign)
        .await
        .unwrap();
    let prober = Prober::doing(|probe, cx| async move {
        match (
            &probe.metadata.deletion_timestamp,
            evenkeel_controller::is_held(&*probe, "ours.io/x"),
        ) {
            (None, false) => drop(cx.hold(&*probe, "ours.io/x").await?),
            (Some(_), true) => cx.release(&*probe, "ours.io/x").await?,
            _ => {}
        }
        Ok(Outcome::Done)
    });
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    let held = bed
        .probes()
        .get("a")
        .await
        .unwrap()
        .metadata
        .finalizers
        .unwrap();
    assert_eq!(held, ["theirs.io/x", "ours.io/x"]);
    bed.probes().delete("a", &Default::default()).await.unwrap();
    seconds(1).await;
    let left = bed
        .probes()
        .get("a")
        .await
        .unwrap()
        .metadata
        .finalizers
        .unwrap();
    assert_eq!(left, ["theirs.io/x"]);
}
