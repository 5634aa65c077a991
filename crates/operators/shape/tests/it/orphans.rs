//! What nobody declares: two surveys, grace, a cap, and never on half a view.

use evenkeel_shape_operator::OrphanMode;
use evenkeel_shapes_cloud::{NewShape, Verb, Vices};
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::bed::{Bed, by_labels, seconds, square};

/// Shapes that carry our mark and belong to no resource.
fn leaked(bed: &Bed, many: usize) {
    for number in 0..many {
        let new = NewShape {
            name: format!("leaked-{number}"),
            form: "Circle".to_owned(),
            colour: "red".to_owned(),
            labels: [
                ("evenkeel.io/owner".to_owned(), "k8s".to_owned()),
                (
                    "evenkeel.io/uid".to_owned(),
                    format!("00000000-0000-0000-0000-{number:012}"),
                ),
            ]
            .into(),
            token: None,
        };
        bed.cloud.create(new).expect("a shape");
    }
}

fn removed(bed: &Bed) -> usize {
    let history = bed.cloud.history();
    history
        .iter()
        .filter(|deed| deed.verb == Verb::Deleted)
        .count()
}

#[tokio::test(start_paused = true)]
async fn orphans_go_after_the_grace_and_no_more_than_the_cap_at_once() {
    let bed = Bed::new(by_labels()).await;
    leaked(&bed, 25);
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(290).await;
    assert_eq!(removed(&bed), 0, "within the grace");
    seconds(70).await;
    assert!((10..=20).contains(&removed(&bed)), "{}", removed(&bed));
    seconds(300).await;
    assert_eq!(bed.in_cloud(), ["Square red"]);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_names_exactly_what_would_go_and_removes_nothing() {
    let mut bed = Bed::new(by_labels()).await;
    bed.settings.orphans.mode = OrphanMode::DryRun;
    leaked(&bed, 3);
    bed.by_hand("foreign", "Star", "gold");
    let working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(3_600).await;
    assert_eq!(removed(&bed), 0);
    let told =
        evenkeel_shape_operator::survey::would_remove(bed.person(), bed.transport(), &bed.settings)
            .await
            .unwrap();
    let mut told: Vec<_> = told.into_iter().map(|doomed| doomed.shape.id).collect();
    drop(working);
    bed.settings.orphans.mode = OrphanMode::Collect;
    let _working = bed.works();
    seconds(3_600).await;
    let history = bed.cloud.history();
    let gone = history.iter().filter(|deed| deed.verb == Verb::Deleted);
    let mut gone: Vec<_> = gone.map(|deed| deed.shape.id.clone()).collect();
    told.sort();
    gone.sort();
    assert_eq!(told, gone);
    assert_eq!(gone.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn switched_off_nobody_looks() {
    let mut bed = Bed::new(by_labels()).await;
    bed.settings.orphans.mode = OrphanMode::Off;
    leaked(&bed, 3);
    let _working = bed.works();
    seconds(7_200).await;
    assert_eq!(removed(&bed), 0);
}

#[tokio::test(start_paused = true)]
async fn half_a_list_removes_nothing_and_makes_nothing() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    leaked(&bed, 700);
    // The second page of a list fails nearly always.
    bed.cloud.set_vices(Vices {
        fails: 60,
        ..Vices::default()
    });
    let made = bed.cloud.history().len();
    seconds(400).await;
    // Whole lists are rare, so the grace is hardly over; what goes, goes by whole lists.
    assert!(
        bed.cloud
            .shapes()
            .iter()
            .any(|shape| shape.name == "default.foo")
    );
    let made_now = bed
        .cloud
        .history()
        .iter()
        .skip(made)
        .filter(|deed| deed.verb == Verb::Created)
        .count();
    assert_eq!(made_now, 0);
}

#[tokio::test(start_paused = true)]
async fn a_cloud_that_shows_nothing_is_no_order_to_forget() {
    let bed = Bed::new(by_labels()).await;
    let _working = bed.works();
    bed.declare("foo", square("red")).await;
    seconds(60).await;
    bed.cloud.set_vices(Vices {
        fails: 100,
        ..Vices::default()
    });
    seconds(600).await;
    bed.cloud.set_vices(Vices::default());
    seconds(600).await;
    assert_eq!(bed.cloud.history().len(), 1);
    assert_eq!(bed.condition("foo", "Ready").await, "True Available");
}

#[tokio::test(start_paused = true)]
async fn orphans_are_counted_until_they_are_gone() {
    let (bed, mut registry) = (Bed::new(by_labels()).await, Registry::default());
    leaked(&bed, 3);
    let manager = bed.manager_counting(&mut registry);
    let working = tokio::spawn(manager.run(CancellationToken::new()));
    bed.declare("foo", square("red")).await;
    let shows = |line: &str| {
        let mut shown = String::new();
        text::encode(&mut shown, &registry).expect("numbers");
        shown.lines().any(|shown| shown == line)
    };
    seconds(120).await;
    assert!(shows("external_orphans{controller=\"shape\"} 3"));
    seconds(3_600).await;
    assert!(shows("external_orphans{controller=\"shape\"} 0"));
    working.abort();
}
