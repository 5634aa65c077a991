//! Every step of making, keeping and removing, and what happens when it goes wrong.

use evenkeel_kubesim::Verb;
use evenkeel_kubesim::faults::{Fault, Which};
use evenkeel_shape_operator::{DeletionPolicy, FINALIZER, Progress, ShapeSpec};
use evenkeel_shapes_cloud::{Change, Verb as Done, Vices};
use evenkeel_testkit::faults::World;
use serde_json::json;

use crate::bed::{Bed, by_labels, by_prefix, seconds, square};

#[tokio::test(start_paused = true)]
async fn nothing_is_made_before_the_finalizer_and_the_intent() {
    let bed = Bed::new(by_labels()).await;
    bed.view
        .fault(Which::writes().verbs(&[Verb::Patch]), Fault::LoseRequest);
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(300).await;
    assert!(bed.in_cloud().is_empty(), "no finalizer, no shape");
    bed.view.heal();
    bed.view
        .fault(Which::writes().verbs(&[Verb::Update]), Fault::LoseRequest);
    seconds(300).await;
    let held = bed.shapes().get("foo").await.unwrap();
    assert_eq!(held.metadata.finalizers.unwrap(), [FINALIZER]);
    assert!(bed.in_cloud().is_empty(), "no intent, no shape");
    bed.view.heal();
    seconds(600).await;
    assert_eq!(bed.in_cloud(), ["Square red"]);
}

#[tokio::test(start_paused = true)]
async fn the_mark_and_the_token_go_with_the_call_that_makes_it() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    let uid = bed
        .declare("foo", square("red"))
        .await
        .metadata
        .uid
        .unwrap();
    seconds(60).await;
    let made = &bed.cloud.history()[0];
    assert_eq!(made.verb, Done::Created);
    assert_eq!(made.shape.labels["evenkeel.io/uid"], uid);
    assert_eq!(made.shape.labels["evenkeel.io/shape"], "default/foo");
    assert_eq!(made.shape.token, Some(format!("{uid}.1")));
    assert_eq!(bed.cloud.history().len(), 1);
    let status = bed.shapes().get("foo").await.unwrap().status.unwrap();
    assert_eq!(status.id.as_ref(), Some(&made.shape.id));
    assert_eq!(status.checkpoint.unwrap().progress, Progress::Made);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_resolved_by_looking() {
    for vices in [
        Vices::default(),
        Vices {
            appears_after: 20_000,
            no_tokens: true,
            ..Vices::default()
        },
    ] {
        for marking in [by_labels(), by_prefix()] {
            let bed = Bed::new(marking).await;
            bed.cloud.set_vices(vices);
            bed.gate().lose_replies(1);
            let _working = bed.works();
            bed.declare("foo", square("red")).await;
            seconds(600).await;
            assert_eq!(bed.in_cloud(), ["Square red"], "{vices:?}");
            assert_eq!(bed.condition("foo", "Ready").await, "True Available");
            let made = bed
                .cloud
                .history()
                .iter()
                .filter(|deed| deed.verb == Done::Created)
                .count();
            assert_eq!(made, 1, "{vices:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn not_found_within_the_window_is_no_drift() {
    let bed = Bed::new(by_labels()).await;
    bed.cloud.set_vices(Vices {
        appears_after: 25_000,
        ..Vices::default()
    });
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(1).await;
    bed.amend("foo", json!({"colour": "blue"})).await;
    seconds(600).await;
    assert_eq!(bed.in_cloud(), ["Square blue"]);
    let made = bed
        .cloud
        .history()
        .iter()
        .filter(|deed| deed.verb == Done::Created)
        .count();
    assert_eq!(made, 1);
}

#[tokio::test(start_paused = true)]
async fn a_shape_that_may_exist_holds_its_shape_resource() {
    let bed = Bed::new(by_labels()).await;
    bed.cloud.set_vices(Vices {
        appears_after: 20_000,
        ..Vices::default()
    });
    bed.gate().lose_replies(1);
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(2).await;
    bed.delete("foo").await;
    seconds(5).await;
    assert!(
        bed.shapes().get_opt("foo").await.unwrap().is_some(),
        "it cannot be seen yet"
    );
    seconds(600).await;
    assert!(bed.shapes().get_opt("foo").await.unwrap().is_none());
    assert!(bed.in_cloud().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cloud_that_is_down_delays_deletion_and_leaks_nothing() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    bed.cloud.set_vices(Vices {
        fails: 100,
        ..Vices::default()
    });
    bed.delete("foo").await;
    seconds(600).await;
    assert!(bed.shapes().get_opt("foo").await.unwrap().is_some());
    bed.cloud.set_vices(Vices::default());
    seconds(600).await;
    assert!(bed.shapes().get_opt("foo").await.unwrap().is_none());
    assert!(bed.in_cloud().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_was_never_made_is_deleted_without_a_trace() {
    let bed = Bed::new(by_labels()).await;
    bed.declare("foo", square("red")).await;
    bed.delete("foo").await;
    let _working = bed.works();
    seconds(300).await;
    assert!(bed.cloud.history().is_empty());
}

#[tokio::test(start_paused = true)]
async fn retain_leaves_the_shape_and_takes_the_mark_off() {
    for marking in [by_labels(), by_prefix()] {
        let bed = Bed::new(marking).await;
        let _working = bed.works();
        let kept = ShapeSpec {
            deletion_policy: DeletionPolicy::Retain,
            ..square("red")
        };
        bed.declare("foo", kept).await;
        seconds(60).await;
        bed.delete("foo").await;
        seconds(900).await;
        assert!(bed.shapes().get_opt("foo").await.unwrap().is_none());
        let left = bed.cloud.shapes();
        assert_eq!(bed.in_cloud(), ["Square red"]);
        assert!(
            left[0].labels.is_empty() && !left[0].name.starts_with("k8s-"),
            "{left:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_policy_can_be_changed_until_the_last_moment() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    bed.amend("foo", json!({"deletionPolicy": "Retain"})).await;
    bed.delete("foo").await;
    seconds(600).await;
    assert_eq!(bed.in_cloud(), ["Square red"]);
}

#[tokio::test(start_paused = true)]
async fn adopting_takes_what_is_nobodys_and_makes_nothing() {
    for marking in [
        by_labels(),
        by_prefix(),
        evenkeel_shape_operator::Marking::Checkpoint,
    ] {
        let bed = Bed::new(marking).await;
        let found = bed.by_hand("bar", "Circle", "green");
        let _working = bed.works();
        bed.declare(
            "foo",
            ShapeSpec {
                adopt: Some(found.id.clone()),
                ..square("red")
            },
        )
        .await;
        seconds(120).await;
        let shapes = bed.cloud.shapes();
        assert_eq!((shapes.len(), &shapes[0].id), (1, &found.id));
        assert_eq!(bed.in_cloud(), ["Square red"]);
        assert_eq!(bed.condition("foo", "Ready").await, "True Available");
        bed.delete("foo").await;
        seconds(120).await;
        assert!(bed.in_cloud().is_empty(), "it is ours now");
    }
}

#[tokio::test(start_paused = true)]
async fn adopting_what_does_not_exist_or_belongs_to_another_is_refused() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare(
        "foo",
        ShapeSpec {
            adopt: Some("shape-77".to_owned()),
            ..square("red")
        },
    )
    .await;
    seconds(60).await;
    assert_eq!(bed.condition("foo", "Accepted").await, "False Refused");
    assert_eq!(bed.condition("foo", "Ready").await, "False NothingToAdopt");
    let theirs = bed.by_hand("bar", "Circle", "green");
    let marked = Change {
        labels: Some([("evenkeel.io/owner".to_owned(), "bob".to_owned())].into()),
        ..Change::default()
    };
    bed.cloud.update(&theirs.id, marked, None).unwrap();
    bed.declare(
        "bar",
        ShapeSpec {
            adopt: Some(theirs.id),
            ..square("red")
        },
    )
    .await;
    seconds(300).await;
    assert_eq!(bed.condition("bar", "Synced").await, "False OwnedByOther");
    assert_eq!(bed.in_cloud(), ["Circle green"]);
}

#[tokio::test(start_paused = true)]
async fn paused_means_no_write_at_all_and_resuming_catches_up() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    bed.amend("foo", json!({"paused": true, "colour": "blue"}))
        .await;
    bed.declare(
        "new",
        ShapeSpec {
            paused: true,
            ..square("green")
        },
    )
    .await;
    seconds(1).await;
    let (revision, history) = (bed.cluster.store().revision(), bed.cloud.history().len());
    bed.cloud.delete(&bed.cloud.shapes()[0].id, None).unwrap();
    seconds(900).await;
    assert_eq!(
        (bed.cluster.store().revision(), bed.cloud.history().len()),
        (revision, history + 1)
    );
    bed.amend("foo", json!({"paused": false})).await;
    seconds(120).await;
    assert_eq!(bed.in_cloud(), ["Square blue"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_cloud_cannot_make_is_not_tried_again_until_it_is_changed() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("invisible")).await;
    seconds(3_000).await;
    assert_eq!(bed.condition("foo", "Accepted").await, "False Refused");
    let calls = World::writes(bed.gate());
    assert!(calls <= 60, "{calls} writes: it is not a loop");
    bed.declare("foo", square("red")).await;
    seconds(120).await;
    assert_eq!(bed.condition("foo", "Ready").await, "True Available");
    assert_eq!(bed.condition("foo", "Accepted").await, "True Accepted");
}

#[tokio::test(start_paused = true)]
async fn two_shapes_for_one_resource_are_reported_and_neither_is_removed() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    let made = bed.cloud.shapes().remove(0);
    let copy = evenkeel_shapes_cloud::NewShape {
        name: made.name,
        form: made.form,
        colour: made.colour,
        labels: made.labels,
        token: None,
    };
    bed.cloud.create(copy).unwrap();
    bed.amend("foo", json!({"colour": "blue"})).await;
    seconds(900).await;
    assert_eq!(
        bed.in_cloud(),
        ["Square blue", "Square red"],
        "the one on record is kept"
    );
    assert_eq!(bed.condition("foo", "Synced").await, "False Duplicate");
}

#[tokio::test(start_paused = true)]
async fn a_namesake_does_not_inherit() {
    let bed = Bed::new(by_labels()).await;
    let working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    drop(working);
    bed.unhold("foo").await;
    bed.delete("foo").await;
    bed.declare("foo", square("red")).await;
    let _working = bed.works();
    seconds(60).await;
    assert_eq!(
        bed.in_cloud().len(),
        2,
        "a new resource has a shape of its own"
    );
    seconds(1_200).await;
    assert_eq!(bed.in_cloud().len(), 1, "the old one was an orphan");
    assert_eq!(bed.condition("foo", "Ready").await, "True Available");
}

#[tokio::test(start_paused = true)]
async fn a_busy_cloud_is_not_pressed() {
    let bed = Bed::new(by_labels()).await;
    bed.cloud.set_vices(Vices {
        rate: 2,
        slow: 200,
        fails: 10,
        loses_replies: 10,
        appears_after: 5_000,
        ..Vices::default()
    });
    let _working = bed.works();
    for number in 0..20 {
        bed.declare(&format!("s{number}"), square("red")).await;
    }
    seconds(7_200).await;
    assert_eq!(bed.in_cloud().len(), 20);
    for number in 0..20 {
        bed.delete(&format!("s{number}")).await;
    }
    seconds(7_200).await;
    assert!(bed.in_cloud().is_empty());
    let left = bed.shapes().list(&Default::default()).await.unwrap().items;
    assert!(left.is_empty(), "{left:#?}");
}

#[tokio::test(start_paused = true)]
async fn every_request_is_covered_by_the_rights_it_asks_for() {
    for marking in [by_labels(), evenkeel_shape_operator::Marking::Checkpoint] {
        let bed = Bed::new(marking).await;
        let rights = bed.manager().rights();
        let _working = bed.works();
        bed.declare("foo", square("red")).await;
        seconds(60).await;
        bed.amend("foo", json!({"colour": "blue"})).await;
        seconds(60).await;
        bed.unhold("foo").await;
        bed.delete("foo").await;
        seconds(900).await;
        for entry in bed.view.log().entries() {
            let call = &entry.call;
            let part = call
                .subresource
                .as_ref()
                .map(|part| format!("/{part}"))
                .unwrap_or_default();
            let resource = format!("{}{part}", call.resource.plural);
            let covered = rights.cover(call.verb.as_str(), &call.resource.group, &resource);
            assert!(covered, "{call} is not covered");
        }
    }
}
