//! Who leads when all goes well, and when somebody goes.

use jiff::SignedDuration;

use crate::stage::{Stage, seconds};

#[tokio::test(start_paused = true)]
async fn one_of_two_leads_and_the_other_waits() {
    let stage = Stage::new();
    let _one = stage.stands("one");
    seconds(1).await;
    let _two = stage.stands("two");
    seconds(600).await;
    assert_eq!(stage.leaders(), ["one"]);
    assert_eq!(stage.history().len(), 1);
    let spec = stage.lease().await.spec.unwrap();
    assert!(spec.holder_identity.unwrap().starts_with("one_"));
    assert_eq!(spec.lease_transitions, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_back_is_taken_at_once() {
    let stage = Stage::new();
    let one = stage.stands("one");
    seconds(1).await;
    let _two = stage.stands("two");
    seconds(60).await;
    one.stop.cancel();
    one.task.await.unwrap();
    seconds(3).await;
    assert_eq!(stage.leaders(), ["two"]);
    assert!(stage.was_never_led_by_two());
    assert_eq!(stage.lease().await.spec.unwrap().lease_transitions, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_dies_is_replaced_after_its_duration_and_not_before() {
    let stage = Stage::new();
    let one = stage.stands("one");
    seconds(1).await;
    let _two = stage.stands("two");
    seconds(60).await;
    one.task.abort();
    seconds(12).await;
    assert!(stage.leaders().is_empty());
    seconds(6).await;
    assert_eq!(stage.leaders(), ["two"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_can_be_told_to_stop() {
    let stage = Stage::new();
    let _one = stage.stands("one");
    seconds(1).await;
    let two = stage.stands("two");
    seconds(10).await;
    two.stop.cancel();
    two.task.await.unwrap();
    assert_eq!(stage.leaders(), ["one"]);
}

#[tokio::test(start_paused = true)]
async fn clocks_that_are_hours_apart_change_nothing() {
    let stage = Stage::new();
    let one = stage.stands_with_clock("one", SignedDuration::from_hours(-5));
    seconds(1).await;
    let _two = stage.stands_with_clock("two", SignedDuration::from_hours(5));
    seconds(600).await;
    assert_eq!(stage.leaders(), ["one"]);
    one.task.abort();
    seconds(12).await;
    assert!(stage.leaders().is_empty());
    seconds(6).await;
    assert_eq!(stage.leaders(), ["two"]);
    assert!(stage.was_never_led_by_two());
}
