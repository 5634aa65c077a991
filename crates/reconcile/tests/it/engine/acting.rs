//! What `act` does with a plan, and with failures on the way.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use evenkeel_ambient::{Clock, ManualClock};
use evenkeel_reconcile::world::{ObservedOf, SnapshotOf, StepOf, WantedOf};
use evenkeel_reconcile::{
    Acted, Acting, AfterFailure, Attempt, Classify, Deletion, Desired, ErrorClass, Failure,
    Matches, Observed, Outcome, Ownership, Policy, Prune, Rank, Reach, Snapshot, Stage, Wanted,
    Word, World, act, compare, outcome, reconcile, report,
};
use futures::executor::block_on;
use proptest::collection::btree_map;
use proptest::prelude::*;

use super::model::{Crash, EVERY_WAY, Model, Thing, wants};

/// The things of a world without what a no-op write may change.
fn shape(model: &Model) -> Vec<(String, u8, Option<String>)> {
    let state = model.state();
    let shape = |thing: &Thing| (thing.key.clone(), thing.value, thing.owner.clone());
    state.things.values().map(shape).collect()
}

fn values() -> impl Strategy<Value = BTreeMap<String, u8>> {
    btree_map((0..10_u8).prop_map(|key| format!("k{key}")), 0..3_u8, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn one_pass_reaches_desired_state_and_the_next_keeps_everything(
        finds in prop::sample::select(EVERY_WAY.to_vec()),
        before in values(),
        after in values(),
        parallel in 1..5_usize,
    ) {
        let model = Model::new(finds);
        let how = Acting { parallel: NonZeroUsize::new(parallel).unwrap(), ..Acting::default() };
        for (version, values) in [(1, &before), (2, &after)] {
            let desired = wants(version, values);
            prop_assert_eq!(model.pass_with(&desired, None, &Policy::default(), &how), Some(true));
            let expected = values.iter().map(|(key, value)| (key.clone(), vec![*value])).collect();
            prop_assert_eq!(model.mine(), expected);
            model.clock.advance(jiff::SignedDuration::from_secs(60));
        }
        let snapshot = block_on(model.observe()).unwrap();
        let desired = wants(2, &after);
        let plan = compare(&desired, &snapshot, &Policy::default(), model.clock.now());
        prop_assert!(plan.is_settled());
    }

    #[test]
    fn what_is_released_stays_and_is_not_ours_any_more(
        finds in prop::sample::select(EVERY_WAY.to_vec()), values in values(),
    ) {
        let model = Model::new(finds);
        let (policy, how) = (Policy { prune: Prune::Release, ..Policy::default() }, Acting::default());
        prop_assert_eq!(model.pass_with(&wants(1, &values), None, &policy, &how), Some(true));
        model.clock.advance(jiff::SignedDuration::from_secs(60));
        let nothing = Desired::nothing("released");
        for _ in 0..2 {
            prop_assert_eq!(model.pass_with(&nothing, None, &policy, &how), Some(true));
        }
        prop_assert_eq!(model.state().things.len(), values.len());
        prop_assert!(values.keys().all(|key| !model.is_on_record(key)));
        let snapshot = block_on(model.observe()).unwrap();
        let plan = compare(&nothing, &snapshot, &policy, model.clock.now());
        prop_assert!(plan.is_settled(), "{:?}", plan);
    }

    #[test]
    fn a_second_run_of_the_same_plan_is_harmless(
        finds in prop::sample::select(EVERY_WAY.to_vec()),
        before in values(),
        after in values(),
        crash in prop::option::of((0..10_usize, any::<bool>())),
    ) {
        let model = Model::new(finds);
        model.pass(&wants(1, &before), None);
        model.clock.advance(jiff::SignedDuration::from_secs(60));
        let desired = wants(2, &after);
        let snapshot = block_on(model.observe()).unwrap();
        let plan = compare(&desired, &snapshot, &Policy::default(), model.clock.now());
        let how = Acting::default();
        block_on(act(&model, &plan, &how)).unwrap();
        let once = shape(&model);
        // The second run may die anywhere, too.
        model.begin(&desired, crash.map(|(after, arrives)| Crash { after, arrives }));
        let _ = block_on(act(&model, &plan, &how));
        prop_assert_eq!(shape(&model), once);
    }
}

/// A world in which each call takes a second, some keys fail, and entering a stage can fail.
#[derive(Default)]
struct Slow {
    things: Vec<(&'static str, Rank)>,
    /// Keys whose writes fail, and how far that reaches.
    broken: BTreeMap<&'static str, Reach>,
    /// A stage that cannot be entered.
    closed: Option<Stage>,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot write {key}")]
struct Broken {
    key: String,
    reach: Reach,
    #[source]
    cause: std::io::Error,
}

impl Failure for Broken {
    fn reach(&self) -> Reach {
        self.reach
    }
}

impl Classify for Broken {
    fn class(&self) -> ErrorClass {
        ErrorClass::Transient
    }
}

struct Anything;

impl Matches<()> for Anything {
    fn difference(&self, (): &()) -> Option<String> {
        None
    }
}

impl Slow {
    async fn call(&self, key: &str) -> Result<(), Broken> {
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_under_way.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        self.broken
            .get(key)
            .map_or(Ok(()), |reach| Err(broken(key, *reach)))
    }
}

fn broken(key: &str, reach: Reach) -> Broken {
    Broken {
        key: key.to_owned(),
        reach,
        cause: std::io::Error::other("out of order"),
    }
}

impl World for Slow {
    type Key = &'static str;
    type Item = Anything;
    type Live = ();
    type Version = u8;
    type Error = Broken;

    async fn observe(&self) -> Result<SnapshotOf<Self>, Broken> {
        if let Some(reach) = self.broken.get("everything") {
            return Err(broken("everything", *reach));
        }
        let seen = |rank| Observed::new((), Ownership::mine_at(1)).ranked(rank);
        Ok(Snapshot::of(
            self.things.iter().map(|(key, rank)| (*key, seen(*rank))),
        ))
    }

    async fn create(&self, key: &&'static str, _: &WantedOf<Self>) -> Result<(), Broken> {
        self.call(key).await
    }

    async fn update(
        &self,
        key: &&'static str,
        _: &WantedOf<Self>,
        _: &ObservedOf<Self>,
    ) -> Result<(), Broken> {
        self.call(key).await
    }

    async fn delete(&self, key: &&'static str, _: &ObservedOf<Self>) -> Result<Deletion, Broken> {
        self.call(key).await.map(|()| Deletion::Gone)
    }

    async fn enter(&self, stage: Stage, ahead: &[StepOf<'_, Self>]) -> Result<(), Broken> {
        assert_eq!(ahead[0].stage(), stage);
        if self.closed == Some(stage) {
            return Err(broken("validation", Reach::World));
        }
        Ok(())
    }
}

const BASE: Rank = Rank(0);
const TOP: Rank = Rank(1);

/// Two things at the base and two on top of them are wanted; two old ones are not.
async fn build(slow: &mut Slow, how: Acting) -> Acted<Slow> {
    slow.things = vec![("old-base", BASE), ("old-top", TOP)];
    let wanted = |rank| Wanted::new(Anything, 1).ranked(rank);
    let all = [("a", BASE), ("b", BASE), ("x", TOP), ("y", TOP)];
    let desired = Desired::things(all.map(|(key, rank)| (key, wanted(rank)))).unwrap();
    reconcile(
        slow,
        &desired,
        &Policy::default(),
        &how,
        &ManualClock::default(),
    )
    .await
}

fn words(acted: &Acted<Slow>) -> Vec<(&'static str, Word)> {
    let changes = match acted {
        Ok(changes) => changes,
        Err(interrupted) => &interrupted.changes,
    };
    changes
        .iter()
        .map(|change| (change.key, change.word))
        .collect()
}

fn breaking(key: &'static str, reach: Reach) -> Slow {
    Slow {
        broken: BTreeMap::from([(key, reach)]),
        ..Slow::default()
    }
}

#[tokio::test(start_paused = true)]
async fn stages_follow_the_ranks_and_deletes_come_last_in_reverse() {
    let acted = build(&mut Slow::default(), Acting::default()).await;
    let order = [
        ("a", Word::Created),
        ("b", Word::Created),
        ("x", Word::Created),
        ("y", Word::Created),
        ("old-top", Word::Deleted),
        ("old-base", Word::Deleted),
    ];
    assert_eq!(words(&acted), order);
}

#[tokio::test(start_paused = true)]
async fn independent_actions_run_side_by_side_up_to_the_bound() {
    for parallel in 1..5 {
        let slow = Slow::default();
        let keys = ["a", "b", "c", "d", "e", "f", "g"];
        let desired = Desired::things(keys.map(|key| (key, Wanted::new(Anything, 1)))).unwrap();
        let how = Acting {
            parallel: NonZeroUsize::new(parallel).unwrap(),
            ..Acting::default()
        };
        let begin = tokio::time::Instant::now();
        reconcile(
            &slow,
            &desired,
            &Policy::default(),
            &how,
            &ManualClock::default(),
        )
        .await
        .unwrap();
        assert_eq!(slow.most_under_way.load(Ordering::SeqCst), parallel);
        // Virtual time: each call takes one second.
        assert_eq!(
            begin.elapsed().as_secs() as usize,
            keys.len().div_ceil(parallel)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_one_thing_stops_what_builds_on_it_and_every_delete() {
    let acted = build(&mut breaking("a", Reach::Thing), Acting::default()).await;
    let rest = [
        ("a", Word::Failed),
        ("b", Word::Created),
        ("x", Word::NotReached),
        ("y", Word::NotReached),
        ("old-top", Word::NotReached),
        ("old-base", Word::NotReached),
    ];
    assert_eq!(words(&acted), rest);
    let interrupted = acted.unwrap_err();
    assert_eq!(interrupted.to_string(), "failed to create a");
    assert_eq!(
        interrupted.failures[0].attempt,
        Attempt::Step("create", "a")
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_one_thing_stops_nothing_where_ranks_are_independent() {
    let how = Acting {
        after_failure: AfterFailure::GoOn,
        ..Acting::default()
    };
    let acted = build(&mut breaking("a", Reach::Thing), how).await;
    let done = words(&acted)
        .into_iter()
        .filter(|(_, word)| word.is_write())
        .count();
    assert_eq!(done, 5);
    assert!(acted.is_err(), "the failure is still one");
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_world_stops_at_once() {
    let how = Acting {
        parallel: NonZeroUsize::MIN,
        ..Acting::default()
    };
    let acted = build(&mut breaking("a", Reach::World), how).await;
    assert_eq!(words(&acted)[1], ("b", Word::NotReached));
}

#[tokio::test(start_paused = true)]
async fn a_world_that_moved_on_is_no_failure() {
    let acted = build(&mut breaking("a", Reach::Stale), Acting::default()).await;
    assert_eq!(words(&acted)[0], ("a", Word::Stale));
    assert!(
        !acted.unwrap().is_settled(),
        "the next pass has to look again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_cannot_be_entered_stops_the_plan_before_its_first_write() {
    let mut slow = Slow {
        closed: Some(Stage::Apply(TOP)),
        ..Slow::default()
    };
    let acted = build(&mut slow, Acting::default()).await;
    assert_eq!(words(&acted)[1], ("b", Word::Created));
    assert_eq!(words(&acted)[2], ("x", Word::NotReached));
    let told = report(&acted);
    assert_eq!(told.verdicts[0].reason.as_str(), "StageFailed");
}

#[tokio::test(start_paused = true)]
async fn condition_event_count_and_outcome_tell_one_story() {
    let acted = build(&mut breaking("a", Reach::Thing), Acting::default()).await;
    let told = report(&acted);
    let [synced, _] = &told.verdicts;
    assert_eq!(synced.reason.as_str(), "CreateFailed");
    assert!(
        synced
            .message
            .starts_with("failed a: cannot write a: out of order"),
        "{synced:?}"
    );
    assert_eq!(
        told.notes[0].message,
        "failed a: cannot write a: out of order"
    );
    assert_eq!(told.counts.get(Word::Failed), 1);
    assert!(matches!(outcome(acted), Outcome::Retry(_)));
}

#[tokio::test(start_paused = true)]
async fn a_world_that_cannot_be_seen_is_not_touched() {
    let acted = build(&mut breaking("everything", Reach::World), Acting::default()).await;
    let interrupted = acted.unwrap_err();
    assert!(interrupted.changes.is_empty());
    assert_eq!(interrupted.failures[0].attempt, Attempt::Observe);
}
