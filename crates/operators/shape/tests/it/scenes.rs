//! The story of reconciliation, scene by scene, over real HTTP.

use evenkeel_reconcile::Tenancy;
use evenkeel_shape_operator::{FINALIZER, Marking};
use evenkeel_shapes_cloud::{Change, NewShape};
use kube::api::DeleteParams;

use crate::bed::{Bed, by_labels, by_prefix, square, until};

#[tokio::test]
async fn scene_01_a_shape_that_is_declared_is_made() {
    let bed = Bed::over_http(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    until("foo is made", async || bed.in_cloud() == ["Square red"]).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    assert_eq!(bed.condition("foo", "Accepted").await, "True Accepted");
    assert_eq!(bed.condition("foo", "Synced").await, "True Synced");
}

#[tokio::test]
async fn scene_02_one_direction_a_changed_declaration_changes_the_shape() {
    let bed = Bed::over_http(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    until("foo is made", async || bed.in_cloud() == ["Square red"]).await;
    bed.declare("foo", square("purple")).await;
    until("foo is purple", async || {
        bed.in_cloud() == ["Square purple"]
    })
    .await;
}

#[tokio::test]
async fn scene_03_both_directions_a_shape_that_a_human_removed_comes_back() {
    let bed = Bed::over_http(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    let id = bed.cloud.shapes()[0].id.clone();
    bed.cloud.delete(&id, None).unwrap();
    until("foo is back", async || bed.in_cloud() == ["Square purple"]).await;
    assert_ne!(bed.cloud.shapes()[0].id, id);
}

#[tokio::test]
async fn scene_03b_both_directions_a_shape_that_a_human_changed_is_put_right() {
    let bed = Bed::over_http(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    let red = Change {
        colour: Some("red".to_owned()),
        ..Change::default()
    };
    bed.cloud
        .update(&bed.cloud.shapes()[0].id, red, None)
        .unwrap();
    until("foo is purple again", async || {
        bed.in_cloud() == ["Square purple"]
    })
    .await;
}

#[tokio::test]
async fn scene_04_exclusive_use_what_nobody_declared_is_cleaned_up() {
    let mut bed = Bed::over_http(by_labels()).await;
    bed.settings.tenancy = Tenancy::Exclusive;
    let _working = bed.works();
    bed.declare("foo", square("purple")).await;
    bed.by_hand("bar", "Circle", "red");
    until("bar is gone", async || bed.in_cloud() == ["Square purple"]).await;
}

#[tokio::test]
async fn scene_05_shared_use_what_others_made_is_left_alone() {
    let bed = Bed::over_http(by_labels()).await;
    let _working = bed.works();
    bed.by_hand("bar", "Circle", "red");
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    bed.delete("foo").await;
    until("foo is gone", async || bed.in_cloud() == ["Circle red"]).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(bed.in_cloud(), ["Circle red"]);
}

#[tokio::test]
async fn scene_06_a_deletion_that_was_missed_leaks_nothing() {
    let bed = Bed::over_http(by_labels()).await;
    let working = bed.works();
    bed.declare("foo", square("purple")).await;
    bed.declare("keep", square("red")).await;
    until("both are ready", async || {
        bed.condition("keep", "Ready").await == "True Available"
            && bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    drop(working);
    // Nobody is there to see it go.
    bed.unhold("foo").await;
    bed.delete("foo").await;
    let _working = bed.works();
    until("the leak is found", async || {
        bed.in_cloud() == ["Square red"]
    })
    .await;
}

#[tokio::test]
async fn scene_07_ownership_by_name_prefix() {
    let bed = Bed::over_http(by_prefix()).await;
    bed.cloud.set_vices(evenkeel_shapes_cloud::Vices {
        no_labels: true,
        ..Default::default()
    });
    owns_what_it_made_and_nothing_else(&bed).await;
    assert!(
        bed.cloud.history()[1]
            .shape
            .name
            .starts_with("k8s-default.foo.")
    );
}

#[tokio::test]
async fn scene_07b_ownership_by_labels() {
    let bed = Bed::over_http(by_labels()).await;
    owns_what_it_made_and_nothing_else(&bed).await;
    assert_eq!(
        bed.cloud.history()[1].shape.labels["evenkeel.io/owner"],
        "k8s"
    );
}

#[tokio::test]
async fn scene_07c_ownership_by_checkpoints() {
    let bed = Bed::over_http(Marking::Checkpoint).await;
    bed.cloud.set_vices(evenkeel_shapes_cloud::Vices {
        no_labels: true,
        no_tokens: true,
        ..Default::default()
    });
    owns_what_it_made_and_nothing_else(&bed).await;
}

/// A missed deletion is cleaned up, and what a human made stays.
async fn owns_what_it_made_and_nothing_else(bed: &Bed) {
    bed.by_hand("bar", "Circle", "red");
    let working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    drop(working);
    bed.unhold("foo").await;
    bed.delete("foo").await;
    let _working = bed.works();
    until("foo is gone and bar is not", async || {
        bed.in_cloud() == ["Circle red"]
    })
    .await;
}

#[tokio::test]
async fn scene_08_list_watch_keeps_its_own_in_sync_and_ignores_the_rest() {
    let bed = Bed::over_http(by_labels()).await;
    let _working = bed.works();
    let bar = bed.by_hand("bar", "Circle", "red");
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    let foo = bed.cloud.shapes()[1].id.clone();
    for colour in ["red", "green", "blue"] {
        let change = Change {
            colour: Some(colour.to_owned()),
            ..Change::default()
        };
        bed.cloud.update(&foo, change.clone(), None).unwrap();
        bed.cloud.update(&bar.id, change, None).unwrap();
        until("foo is put right", async || {
            bed.cloud.get(&foo).unwrap().colour == "purple"
        })
        .await;
        assert_eq!(bed.cloud.get(&bar.id).unwrap().colour, colour);
    }
}

#[tokio::test]
async fn scene_09_a_forged_mark_makes_it_ours_to_clean_up() {
    let bed = Bed::over_http(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    let mark = [("evenkeel.io/owner".to_owned(), "k8s".to_owned())];
    let forged = NewShape {
        name: "bar".to_owned(),
        form: "Circle".to_owned(),
        colour: "red".to_owned(),
        labels: mark.into(),
        token: None,
    };
    bed.cloud.create(forged).unwrap();
    until("bar is gone", async || bed.in_cloud() == ["Square purple"]).await;
}

#[tokio::test]
async fn scene_10_everything_is_reconciled_at_the_start_and_again_and_again() {
    let bed = Bed::over_http(by_labels()).await;
    let working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    drop(working);
    let remove = || bed.cloud.delete(&bed.cloud.shapes()[0].id, None).unwrap();
    remove();
    let _working = bed.works();
    until("it is found at the start", async || {
        bed.in_cloud() == ["Square purple"]
    })
    .await;
    for _ in 0..3 {
        until("it settled", async || {
            bed.condition("foo", "Ready").await == "True Available"
        })
        .await;
        remove();
        until("it is found later", async || {
            bed.in_cloud() == ["Square purple"]
        })
        .await;
    }
}

#[tokio::test]
async fn scene_11_finalizers_the_pending_deletion_is_observed() {
    let bed = Bed::over_http(by_labels()).await;
    let working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    let held = bed.shapes().get("foo").await.unwrap().metadata.finalizers;
    assert_eq!(held.as_deref(), Some([FINALIZER.to_owned()].as_slice()));
    drop(working);
    bed.delete("foo").await;
    let pending = bed.shapes().get("foo").await.unwrap();
    assert!(pending.metadata.deletion_timestamp.is_some());
    assert_eq!(bed.in_cloud(), ["Square purple"]);
    let _working = bed.works();
    until("the Shape goes", async || {
        bed.shapes().get_opt("foo").await.unwrap().is_none()
    })
    .await;
    assert!(bed.in_cloud().is_empty(), "after its shape");
}

#[tokio::test]
async fn scene_12_custom_resources_a_dangling_reference_is_resolved() {
    let bed = Bed::over_http(Marking::Checkpoint).await;
    let _working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    assert_eq!(
        bed.refs()
            .list(&Default::default())
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    // The deletion of the Shape itself goes by unobserved.
    bed.view.hold_events();
    bed.unhold("foo").await;
    bed.delete("foo").await;
    bed.view.release_events();
    until("the shape is gone", async || bed.in_cloud().is_empty()).await;
    until("and so is the reference", async || {
        bed.refs()
            .list(&Default::default())
            .await
            .unwrap()
            .items
            .is_empty()
    })
    .await;
}

#[tokio::test]
async fn scene_13_you_broke_it_but_the_pieces_are_put_together_where_they_can_be() {
    // Somebody edits the mark away.
    let bed = Bed::over_http(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    let shape = bed.cloud.shapes().remove(0);
    let unmarked = Change {
        labels: Some([("note".to_owned(), "mine".to_owned())].into()),
        ..Change::default()
    };
    bed.cloud.update(&shape.id, unmarked, None).unwrap();
    until("the mark is back", async || {
        bed.cloud
            .get(&shape.id)
            .unwrap()
            .labels
            .contains_key("evenkeel.io/owner")
    })
    .await;
    assert_eq!(bed.cloud.get(&shape.id).unwrap().labels["note"], "mine");
    assert_eq!(bed.in_cloud().len(), 1);

    // Somebody deletes the ShapeRef.
    let bed = Bed::over_http(Marking::Checkpoint).await;
    let _working = bed.works();
    bed.declare("foo", square("purple")).await;
    until("foo is ready", async || {
        bed.condition("foo", "Ready").await == "True Available"
    })
    .await;
    let known = bed
        .refs()
        .list(&Default::default())
        .await
        .unwrap()
        .items
        .remove(0);
    let name = known.metadata.name.unwrap();
    bed.refs()
        .delete(&name, &DeleteParams::default())
        .await
        .unwrap();
    until("the ShapeRef is back", async || {
        bed.refs().get_opt(&name).await.unwrap().is_some()
    })
    .await;
    assert_eq!(bed.in_cloud().len(), 1);
}
