//! What `compare` decides, for any desired state, any view of the world and any policy.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_reconcile::reason::{WhyKeep, WhyRefuse};
use evenkeel_reconcile::{
    Action, Adopt, Approval, Brake, Contention, Desired, Drift, Guard, Matches, Naming, Observed,
    Ownership, Plan, Policy, Prune, Rank, Recorded, Snapshot, Stage, Tenancy, Wanted, compare,
};
use jiff::Timestamp;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value(u8);

impl Matches<u8> for Value {
    fn difference(&self, live: &u8) -> Option<String> {
        (self.0 != *live).then(|| format!("{live} is not {}", self.0))
    }
}

type Wants = Desired<u8, Value, u8>;
type View = Snapshot<u8, u8, u8>;
type Decided<'a> = Plan<'a, u8, Value, u8, u8>;

const NOW: i64 = 1_000;

fn decide<'a>(wants: &'a Wants, view: &'a View, policy: &Policy<u8>) -> Decided<'a> {
    compare(wants, view, policy, Timestamp::from_second(NOW).unwrap())
}

fn rank() -> impl Strategy<Value = Rank> {
    (0..3).prop_map(Rank)
}

fn wants() -> impl Strategy<Value = Wants> {
    let wanted = (0..3_u8, 0..3_u8, rank())
        .prop_map(|(value, version, rank)| Wanted::new(Value(value), version).ranked(rank));
    let things = btree_map(0..40_u8, wanted, 0..30).prop_map(|all| Desired::things(all).unwrap());
    prop_oneof![5 => things, 1 => Just(Desired::nothing("asked for"))]
}

fn ownership() -> impl Strategy<Value = Ownership<u8>> {
    prop_oneof![
        4 => option::of(0..3_u8).prop_map(|version| Ownership::Mine { version }),
        1 => Just(Ownership::Other { owner: "bob".to_owned() }),
        1 => Just(Ownership::Nobody),
    ]
}

fn guard() -> impl Strategy<Value = Guard> {
    prop_oneof![
        8 => Just(Guard::Open),
        1 => Just(Guard::KeepOnDelete),
        1 => Just(Guard::LeaveAlone),
        1 => Just(Guard::Protected),
        1 => Just(Guard::Confirm { why: "it holds others".to_owned() }),
    ]
}

fn observed() -> impl Strategy<Value = Observed<u8, u8>> {
    (
        0..3_u8,
        ownership(),
        rank(),
        guard(),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(live, ownership, rank, guard, leaving)| Observed {
            live,
            ownership,
            rank,
            guard,
            leaving,
            contention: None,
        })
}

fn recorded() -> impl Strategy<Value = Recorded<u8>> {
    prop_oneof![
        Just(Recorded::Intended),
        (NOW - 5..NOW + 5).prop_map(|second| Recorded::Settling {
            until: Timestamp::from_second(second).unwrap()
        }),
        (0..3_u8).prop_map(|version| Recorded::Made { version }),
    ]
}

/// A view in which a key may be claimed more than once, without a word about gaps.
fn whole_view() -> impl Strategy<Value = View> {
    let things = vec((0..40_u8, observed()), 0..40);
    let record = option::of(btree_map(0..40_u8, recorded(), 0..30));
    (things, record).prop_map(|(things, record)| match record {
        Some(record) => Snapshot::of(things).with_record(record),
        None => Snapshot::of(things),
    })
}

fn view() -> impl Strategy<Value = View> {
    (whole_view(), prop::bool::weighted(0.2)).prop_map(|(mut view, gap)| {
        if gap {
            view.missed("page 2", "timed out");
        }
        view
    })
}

fn policy() -> impl Strategy<Value = Policy<u8>> {
    let prune =
        prop_oneof![4 => Just(Prune::Delete), 1 => Just(Prune::Off), 1 => Just(Prune::Release)];
    let adopt = prop::sample::select(vec![Adopt::Off, Adopt::On]);
    let tenancy = prop::sample::select(vec![Tenancy::Shared, Tenancy::Exclusive]);
    let drift = prop::sample::select(vec![Drift::Off, Drift::Warn, Drift::Enforce]);
    let naming = prop::sample::select(vec![Naming::ByKey, Naming::ByServer]);
    let brake = (0..12_usize, 0..=100_u8).prop_map(|(count, percent)| Brake { count, percent });
    let approval = prop_oneof![
        3 => Just(Approval::NotGiven),
        1 => (0..20_usize).prop_map(Approval::UpTo),
        1 => Just(Approval::Given),
    ];
    let protected = btree_set(0..40_u8, 0..4);
    (
        prune, adopt, tenancy, drift, naming, brake, approval, protected,
    )
        .prop_map(
            |(prune, adopt, tenancy, drift, naming, brake, approval, protected)| Policy {
                prune,
                adopt,
                tenancy,
                drift,
                naming,
                brake,
                approval,
                protected,
            },
        )
}

fn deletes<'p, 'a>(plan: &'p Decided<'a>) -> impl Iterator<Item = (u8, &'a Observed<u8, u8>)> + 'p {
    plan.steps.iter().filter_map(|step| match step.action {
        Action::Delete { observed, .. } => Some((*step.key, observed)),
        _ => None,
    })
}

/// What a step would write over.
fn written<'a>(action: &Action<'a, Value, u8, u8>) -> Option<&'a Observed<u8, u8>> {
    match action {
        Action::Update { observed, .. }
        | Action::Adopt { observed, .. }
        | Action::Delete { observed, .. }
        | Action::Release { observed } => Some(observed),
        Action::Create { .. } | Action::Keep(_) | Action::Refuse(_) => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_same_question_has_the_same_answer(wants in wants(), view in view(), policy in policy()) {
        let (wants_twin, view_twin) = (wants.clone(), view.clone());
        prop_assert_eq!(decide(&wants, &view, &policy), decide(&wants_twin, &view_twin, &policy));
    }

    #[test]
    fn the_order_of_the_question_does_not_matter(
        things in btree_map(0..40_u8, observed(), 0..40),
        values in btree_map(0..40_u8, (0..3_u8, rank()), 0..30),
        policy in policy(),
    ) {
        let wanted = |(key, (value, rank)): (&u8, &(u8, Rank))| {
            (*key, Wanted::new(Value(*value), 1).ranked(*rank))
        };
        let forward = Desired::things(values.iter().map(wanted)).unwrap();
        let backward = Desired::things(values.iter().rev().map(wanted)).unwrap();
        let pairs: Vec<_> = things.into_iter().collect();
        let (view, mirror) = (Snapshot::of(pairs.clone()), Snapshot::of(pairs.into_iter().rev()));
        prop_assert_eq!(decide(&forward, &view, &policy), decide(&backward, &mirror, &policy));
    }

    #[test]
    fn it_has_an_answer_for_every_key(wants in wants(), view in view(), policy in policy()) {
        let known: BTreeSet<u8> = wants.iter().map(|(key, _)| *key).chain(view.iter().map(|(key, _)| *key)).collect();
        let plan = decide(&wants, &view, &policy);
        let answered: BTreeSet<u8> = plan.steps.iter().map(|step| *step.key).collect();
        prop_assert_eq!(answered, known);
    }

    #[test]
    fn what_is_anothers_is_never_touched(wants in wants(), view in view(), policy in policy()) {
        for step in decide(&wants, &view, &policy).steps {
            if let Some(thing) = written(&step.action) {
                let others = matches!(thing.ownership, Ownership::Other { .. });
                prop_assert!(!others);
            }
        }
    }

    #[test]
    fn what_is_nobodys_is_touched_only_where_that_is_allowed(
        wants in wants(), view in view(), policy in policy(),
    ) {
        for step in decide(&wants, &view, &policy).steps {
            if let Some(Observed { ownership: Ownership::Nobody, .. }) = written(&step.action) {
                let adopted = matches!(step.action, Action::Adopt { .. }) && policy.adopt == Adopt::On;
                prop_assert!(adopted || policy.tenancy == Tenancy::Exclusive);
            }
        }
    }

    #[test]
    fn a_partial_view_deletes_nothing(wants in wants(), mut view in view(), policy in policy()) {
        view.missed("list of everything", "403");
        prop_assert_eq!(deletes(&decide(&wants, &view, &policy)).count(), 0);
    }

    #[test]
    fn a_partial_view_creates_nothing_where_the_server_names_things(
        wants in wants(), mut view in view(), policy in policy(),
    ) {
        view.missed("list of everything", "403");
        let policy = Policy { naming: Naming::ByServer, ..policy };
        let plan = decide(&wants, &view, &policy);
        let creates = plan.steps.iter().filter(|step| matches!(step.action, Action::Create { .. }));
        prop_assert_eq!(creates.count(), 0);
    }

    #[test]
    fn an_accident_deletes_nothing(view in view(), policy in policy()) {
        let accident: Wants = Desired::things([]).unwrap();
        prop_assert_eq!(deletes(&decide(&accident, &view, &policy)).count(), 0);
    }

    #[test]
    fn the_brake_holds_unless_somebody_approved(
        wants in wants(), things in btree_map(0..40_u8, observed(), 0..40), policy in policy(),
    ) {
        let view = Snapshot::of(things);
        let plan = decide(&wants, &view, &policy);
        let count = deletes(&plan).count();
        let ours = view.iter().filter(|(_, thing)| match thing.ownership {
            Ownership::Mine { .. } => true,
            Ownership::Nobody => policy.tenancy == Tenancy::Exclusive,
            Ownership::Other { .. } => false,
        });
        let ours = ours.count();
        prop_assert!(!policy.brake.holds(count, ours) || policy.approval.covers(count));
    }

    #[test]
    fn what_is_guarded_stays(wants in wants(), view in view(), policy in policy()) {
        let plan = decide(&wants, &view, &policy);
        let count = deletes(&plan).count();
        for (key, thing) in deletes(&plan) {
            prop_assert!(!policy.protected.contains(&key));
            prop_assert!(!thing.leaving);
            prop_assert_eq!(policy.prune, Prune::Delete);
            match thing.guard {
                Guard::Open => {}
                Guard::Confirm { .. } => prop_assert!(policy.approval.covers(count)),
                Guard::KeepOnDelete | Guard::LeaveAlone | Guard::Protected => {
                    prop_assert!(false, "{:?}", thing);
                }
            }
        }
    }

    #[test]
    fn an_exclusive_world_is_cleaned_up_and_a_shared_one_is_not(
        wants in wants(), things in btree_map(0..40_u8, 0..3_u8, 0..40),
    ) {
        prop_assume!(!wants.is_empty_by_accident());
        let seen = things.iter().map(|(key, live)| (*key, Observed::new(*live, Ownership::Nobody)));
        let view = Snapshot::of(seen);
        let strays: BTreeSet<_> = things.keys().copied().filter(|key| wants.get(key).is_none()).collect();
        let under = |tenancy| {
            let policy = Policy { tenancy, brake: Brake::RELEASED, ..Policy::default() };
            deletes(&decide(&wants, &view, &policy)).map(|(key, _)| key).collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(under(Tenancy::Shared), BTreeSet::new());
        prop_assert_eq!(under(Tenancy::Exclusive), strays);
    }

    #[test]
    fn work_goes_up_the_ranks_and_deletes_come_down_after_it(
        wants in wants(), view in view(), policy in policy(),
    ) {
        let plan = decide(&wants, &view, &policy);
        let place = |stage| match stage {
            Stage::Apply(Rank(rank)) => rank,
            Stage::Prune(Rank(rank)) => 1_000 - rank,
        };
        let places: Vec<_> = plan.steps.iter().map(|step| place(step.stage())).collect();
        prop_assert!(places.is_sorted(), "{:?}", places);
    }

    #[test]
    fn all_that_may_become_ours_is_remembered_first(
        wants in wants(), view in whole_view(), policy in policy(),
    ) {
        let plan = decide(&wants, &view, &policy);
        if let Some(record) = &plan.record {
            let remembered: BTreeSet<_> = record.remember.iter().copied().collect();
            for step in &plan.steps {
                if matches!(step.action, Action::Create { .. }) {
                    prop_assert!(remembered.contains(step.key));
                }
            }
            prop_assert!(record.forget.iter().all(|key| !remembered.contains(key)));
        }
    }

    #[test]
    fn nothing_of_ours_that_stays_ours_is_forgotten(wants in wants(), view in view(), policy in policy()) {
        let plan = decide(&wants, &view, &policy);
        for key in plan.record.iter().flat_map(|record| &record.forget) {
            let left = plan.steps.iter().any(|step| {
                step.key == *key && step.action == Action::Keep(WhyKeep::Left)
            });
            let mine = view.get(key).is_some_and(|thing| thing.ownership.is_mine());
            prop_assert!(left || !mine);
        }
    }
}

fn one_of_ours(version: u8, live: u8) -> View {
    Snapshot::of([(1, Observed::new(live, Ownership::mine_at(version)))])
}

#[test]
fn a_repair_that_would_be_undone_again_waits_and_a_new_version_does_not() {
    let until = Timestamp::from_second(NOW + 60).unwrap();
    let over = "/value with bob".to_owned();
    let fought = |version| {
        let seen = Observed::new(2, Ownership::mine_at(version));
        Snapshot::of([(
            1,
            seen.contended(Some(Contention {
                over: over.clone(),
                until,
            })),
        )])
    };
    let (wants, current, older) = (one_wanted(), fought(1), fought(0));
    let decided = |view, now| {
        let now = Timestamp::from_second(now).unwrap();
        compare(&wants, view, &Policy::default(), now)
            .steps
            .remove(0)
            .action
    };
    let held = decided(&current, NOW);
    assert!(
        matches!(held, Action::Refuse(WhyRefuse::Contended(_))),
        "{held:?}"
    );
    assert!(matches!(decided(&current, NOW + 60), Action::Update { .. }));
    assert!(matches!(decided(&older, NOW), Action::Update { .. }));
}

fn one_wanted() -> Wants {
    Desired::things([(1, Wanted::new(Value(1), 1))]).unwrap()
}

fn only<'a>(plan: &Decided<'a>) -> Action<'a, Value, u8, u8> {
    let [step] = plan.steps.as_slice() else {
        panic!("one step, not {:?}", plan.steps)
    };
    step.action.clone()
}

#[test]
fn drift_is_ignored_told_or_repaired() {
    let (wants, view) = (one_wanted(), one_of_ours(1, 2));
    let under = |drift| {
        only(&decide(
            &wants,
            &view,
            &Policy {
                drift,
                ..Policy::default()
            },
        ))
    };
    assert_eq!(under(Drift::Off), Action::Keep(WhyKeep::DriftUnchecked));
    let told = WhyKeep::DriftTolerated("2 is not 1".to_owned());
    assert_eq!(under(Drift::Warn), Action::Keep(told));
    assert!(matches!(under(Drift::Enforce), Action::Update { .. }));
}

#[test]
fn a_new_version_is_written_whatever_the_drift_mode() {
    let (wants, view) = (one_wanted(), one_of_ours(0, 1));
    for drift in [Drift::Off, Drift::Warn, Drift::Enforce] {
        let policy = Policy {
            drift,
            ..Policy::default()
        };
        assert!(matches!(
            only(&decide(&wants, &view, &policy)),
            Action::Update { .. }
        ));
    }
}

#[test]
fn a_thing_that_somebody_removed_is_drift_where_a_record_proves_it() {
    let wants = one_wanted();
    let made: View = Snapshot::new().with_record([(1, Recorded::Made { version: 1 })]);
    let under = |view, drift| {
        matches!(
            only(&decide(
                &wants,
                view,
                &Policy {
                    drift,
                    ..Policy::default()
                }
            )),
            Action::Create { .. }
        )
    };
    assert!(!under(&made, Drift::Warn));
    assert!(under(&made, Drift::Enforce));
    let intended: View = Snapshot::new().with_record([(1, Recorded::Intended)]);
    assert!(under(&intended, Drift::Warn), "it was never there");
}

#[test]
fn not_found_is_not_believed_before_the_world_has_settled() {
    let wants = one_wanted();
    let until = |second| Recorded::Settling {
        until: Timestamp::from_second(second).unwrap(),
    };
    let early: View = Snapshot::new().with_record([(1, until(NOW + 1))]);
    let late: View = Snapshot::new().with_record([(1, until(NOW))]);
    let policy = Policy::default();
    assert!(matches!(
        only(&decide(&wants, &early, &policy)),
        Action::Refuse(WhyRefuse::Settling { .. })
    ));
    assert!(matches!(
        only(&decide(&wants, &late, &policy)),
        Action::Create { .. }
    ));
}

#[test]
fn of_two_claimants_the_second_is_reported_and_left_alone_until_neither_is_wanted() {
    let twin = |live| (1, Observed::new(live, Ownership::mine_at(1)));
    let view: View = Snapshot::of([twin(1), twin(2)]);
    let wants = one_wanted();
    let policy = Policy::default();
    let actions: Vec<_> = decide(&wants, &view, &policy)
        .steps
        .into_iter()
        .map(|step| step.action)
        .collect();
    assert_eq!(
        actions,
        [
            Action::Keep(WhyKeep::Current),
            Action::Refuse(WhyRefuse::Duplicate)
        ]
    );
    let nothing: Wants = Desired::nothing("asked for");
    assert_eq!(deletes(&decide(&nothing, &view, &policy)).count(), 2);
}

#[test]
fn a_lost_record_is_written_anew() {
    let view = one_of_ours(1, 1).with_record([]);
    let wants = one_wanted();
    let record = decide(&wants, &view, &Policy::default()).record.unwrap();
    assert_eq!(record.remember, [&1]);
}

#[test]
fn everything_has_its_reason() {
    let refused = |ownership| {
        let view: View = Snapshot::of([(1, Observed::new(1, ownership))]);
        match only(&decide(&one_wanted(), &view, &Policy::default())) {
            Action::Refuse(why) => why.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let reasons: BTreeMap<_, _> = [
        (
            1,
            refused(Ownership::Other {
                owner: "bob".to_owned(),
            }),
        ),
        (2, refused(Ownership::Nobody)),
    ]
    .into();
    assert_eq!(reasons[&1], "it belongs to bob");
    assert_eq!(reasons[&2], "it exists, is not ours, and adopting is off");
}
