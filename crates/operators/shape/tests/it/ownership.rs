//! Whose a shape is, and that nobody else's is touched.

use evenkeel_reconcile::Tenancy;
use evenkeel_shape_operator::Marking;
use evenkeel_shapes_cloud::{Change, NewShape, Verb, Vices};
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use crate::bed::{Bed, by_labels, by_prefix, seconds, square};

fn of_bob(bed: &Bed) -> String {
    let new = NewShape {
        name: "bobs".to_owned(),
        form: "Star".to_owned(),
        colour: "gold".to_owned(),
        labels: [("evenkeel.io/owner".to_owned(), "bob".to_owned())].into(),
        token: None,
    };
    bed.cloud.create(new).expect("a shape").id
}

#[tokio::test(start_paused = true)]
async fn a_mark_by_another_owner_is_never_touched_not_even_in_exclusive_use() {
    let mut bed = Bed::new(by_labels()).await;
    bed.settings.tenancy = Tenancy::Exclusive;
    let bobs = of_bob(&bed);
    bed.by_hand("stray", "Circle", "red");
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(3_600).await;
    assert_eq!(bed.in_cloud(), ["Star gold", "Square red"]);
    let touched = bed
        .cloud
        .history()
        .into_iter()
        .filter(|deed| deed.shape.id == bobs);
    assert_eq!(touched.count(), 1, "it was made, and that was all");
}

#[tokio::test(start_paused = true)]
async fn a_shape_that_changed_hands_is_left_to_its_new_owner() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    let shape = bed.cloud.shapes().remove(0);
    let mut labels = shape.labels.clone();
    labels.insert("evenkeel.io/owner".to_owned(), "bob".to_owned());
    let taken = Change {
        labels: Some(labels),
        colour: Some("gold".to_owned()),
        ..Change::default()
    };
    bed.cloud.update(&shape.id, taken, None).unwrap();
    seconds(600).await;
    assert_eq!(bed.condition("foo", "Synced").await, "False OwnedByOther");
    assert_eq!(bed.in_cloud(), ["Square gold"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_status_loses_nothing() {
    for marking in [by_labels(), by_prefix(), Marking::Checkpoint] {
        let bed = Bed::new(marking).await;
        let _working = bed.works();
        bed.declare("foo", square("red")).await;
        seconds(60).await;
        let wiped = Patch::Merge(json!({"status": null}));
        bed.shapes()
            .patch_status("foo", &PatchParams::default(), &wiped)
            .await
            .unwrap();
        bed.amend("foo", json!({"colour": "blue"})).await;
        seconds(300).await;
        assert_eq!(bed.in_cloud(), ["Square blue"]);
        assert_eq!(bed.condition("foo", "Ready").await, "True Available");
        bed.cloud.delete(&bed.cloud.shapes()[0].id, None).unwrap();
        seconds(300).await;
        assert_eq!(
            bed.in_cloud(),
            ["Square blue"],
            "also when it has to be made anew"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn in_a_cloud_without_labels_or_tokens_checkpoints_know_what_is_ours() {
    let bed = Bed::new(Marking::Checkpoint).await;
    bed.cloud.set_vices(Vices {
        no_labels: true,
        no_tokens: true,
        appears_after: 10_000,
        ..Vices::default()
    });
    bed.gate().lose_replies(1);
    let _working = bed.works();
    let looks_alike = bed.by_hand("default.foo", "Square", "red").id;
    bed.declare("foo", square("red")).await;
    seconds(900).await;
    assert_eq!(bed.in_cloud().len(), 2);
    assert_eq!(bed.condition("foo", "Ready").await, "True Available");
    bed.delete("foo").await;
    seconds(900).await;
    let left: Vec<_> = bed
        .cloud
        .shapes()
        .into_iter()
        .map(|shape| shape.id)
        .collect();
    assert_eq!(left, [looks_alike]);
    assert!(
        bed.refs()
            .list(&Default::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_of_what_may_exist_is_resolved_when_its_shape_resource_is_gone() {
    let bed = Bed::new(Marking::Checkpoint).await;
    bed.cloud.set_vices(Vices {
        appears_after: 20_000,
        ..Vices::default()
    });
    bed.gate().lose_replies(1);
    let working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(1).await;
    drop(working);
    bed.unhold("foo").await;
    bed.delete("foo").await;
    let _working = bed.works();
    seconds(600).await;
    assert!(bed.in_cloud().is_empty());
    assert!(
        bed.refs()
            .list(&Default::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn retain_by_checkpoint_forgets_the_shape_and_keeps_it() {
    let bed = Bed::new(Marking::Checkpoint).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    bed.amend("foo", json!({"deletionPolicy": "Retain"})).await;
    seconds(60).await;
    let working = bed.works();
    drop(working);
    bed.delete("foo").await;
    seconds(600).await;
    assert_eq!(bed.in_cloud(), ["Square red"]);
    assert!(bed.shapes().get_opt("foo").await.unwrap().is_none());
    assert!(
        bed.refs()
            .list(&Default::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let deleted = bed
        .cloud
        .history()
        .into_iter()
        .any(|deed| deed.verb == Verb::Deleted);
    assert!(!deleted);
}

#[tokio::test(start_paused = true)]
async fn a_shape_ref_that_somebody_deletes_is_written_again() {
    let bed = Bed::new(Marking::Checkpoint).await;
    let _working = bed.works();
    let uid = bed
        .declare("foo", square("red"))
        .await
        .metadata
        .uid
        .unwrap();
    seconds(60).await;
    bed.refs()
        .delete(&uid, &DeleteParams::default())
        .await
        .unwrap();
    seconds(120).await;
    assert!(bed.refs().get_opt(&uid).await.unwrap().is_some());
    assert_eq!(bed.in_cloud().len(), 1);
}
