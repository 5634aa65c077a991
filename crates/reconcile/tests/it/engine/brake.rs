//! The incidents that the brake and its neighbours exist for, each as a small story.

use std::collections::BTreeMap;

use evenkeel_ambient::Clock;
use evenkeel_reconcile::{Acting, Approval, Desired, Policy, Word, World, act, compare};

use super::model::{Finds, Model, ModelDesired, wants};

fn values(count: u8) -> BTreeMap<String, u8> {
    (0..count).map(|key| (format!("k{key:02}"), 1)).collect()
}

/// A world that holds `count` things of ours.
fn holding(count: u8) -> Model {
    let model = Model::new(Finds::Mark);
    assert_eq!(model.pass(&wants(1, &values(count)), None), Some(true));
    model
}

fn left(model: &Model, desired: &ModelDesired, approval: Approval) -> usize {
    let policy = Policy {
        approval,
        ..Policy::default()
    };
    model.pass_with(desired, None, &policy, &Acting::default());
    model.mine().len()
}

#[test]
fn a_render_that_came_out_empty_deletes_nothing() {
    let model = holding(30);
    let accident = Desired::things([]).unwrap();
    assert_eq!(left(&model, &accident, Approval::Given), 30);
}

#[test]
fn a_render_that_came_out_short_waits_for_approval_and_the_rest_proceeds() {
    let model = holding(30);
    let short = BTreeMap::from([("k00".to_owned(), 2), ("new".to_owned(), 1)]);
    assert_eq!(left(&model, &wants(2, &short), Approval::NotGiven), 31);
    assert_eq!((model.mine()["k00"][0], model.mine()["new"][0]), (2, 1));
    assert_eq!(
        left(&model, &wants(2, &short), Approval::UpTo(28)),
        31,
        "29 would go"
    );
    assert_eq!(left(&model, &wants(2, &short), Approval::UpTo(29)), 2);
}

#[test]
fn a_stack_that_was_deleted_on_purpose_waits_for_approval_when_it_is_big() {
    let nothing = Desired::nothing("the stack was deleted");
    assert_eq!(left(&holding(10), &nothing, Approval::NotGiven), 0);
    assert_eq!(left(&holding(11), &nothing, Approval::NotGiven), 11);
    assert_eq!(left(&holding(11), &nothing, Approval::Given), 0);
}

#[test]
fn a_list_that_failed_halfway_deletes_nothing() {
    let model = holding(5);
    let nothing: ModelDesired = Desired::nothing("the stack was deleted");
    let mut snapshot = futures::executor::block_on(model.observe()).unwrap();
    snapshot.missed("list of Services", "503");
    let plan = compare(&nothing, &snapshot, &Policy::default(), model.clock.now());
    let changes = futures::executor::block_on(act(&model, &plan, &Acting::default())).unwrap();
    assert_eq!(changes.count(Word::Unseen), 5);
    assert_eq!(model.mine().len(), 5);
}
