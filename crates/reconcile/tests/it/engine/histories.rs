//! Whatever happens on the way, the world ends as wanted, with nothing lost and nothing of anybody
//! else's touched.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use evenkeel_reconcile::{Acting, Desired, Policy};
use jiff::SignedDuration;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::model::{BOB, Crash, EVERY_WAY, Finds, ME, Model, ModelDesired, wants};

/// One thing that happens to a world.
#[derive(Debug, Clone)]
enum Event {
    /// Somebody wants something else.
    Want(BTreeMap<String, u8>),
    /// Somebody wants nothing, on purpose.
    WantNothing,
    /// A pass that is left in peace.
    Pass,
    /// A pass in which the process dies.
    Die(Crash),
    /// Somebody changes a thing of ours.
    Edit(u8, u8),
    /// Somebody removes a thing of ours.
    Remove(u8),
    /// Somebody puts a thing of theirs where ours may go.
    Squat(u8, bool),
    /// Nothing, for a while.
    Rest(i64),
}

fn name(key: u8) -> String {
    format!("k{key}")
}

fn wanted() -> impl Strategy<Value = BTreeMap<String, u8>> {
    btree_map((0..8_u8).prop_map(name), 0..4_u8, 0..6)
}

fn event() -> impl Strategy<Value = Event> {
    let crash = (0..12_usize, any::<bool>()).prop_map(|(after, arrives)| Crash { after, arrives });
    prop_oneof![
        3 => wanted().prop_map(Event::Want),
        1 => Just(Event::WantNothing),
        3 => Just(Event::Pass),
        6 => crash.prop_map(Event::Die),
        1 => (0..8_u8, 0..4_u8).prop_map(|(key, value)| Event::Edit(key, value)),
        1 => (0..8_u8).prop_map(Event::Remove),
        1 => (0..8_u8, any::<bool>()).prop_map(|(key, marked)| Event::Squat(key, marked)),
        1 => (1..40_i64).prop_map(Event::Rest),
    ]
}

/// A world, what is wanted of it, and who works on it.
struct History {
    model: Model,
    desired: ModelDesired,
    version: u32,
    how: Acting,
}

impl History {
    fn new(model: Model, parallel: usize) -> Self {
        let how = Acting {
            parallel: NonZeroUsize::new(parallel).unwrap(),
            ..Acting::default()
        };
        Self {
            model,
            desired: Desired::nothing("nobody has asked yet"),
            version: 0,
            how,
        }
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Want(values) => self.want(values),
            Event::WantNothing => self.desired = Desired::nothing("somebody said so"),
            Event::Pass => drop(self.pass(None)),
            Event::Die(crash) => drop(self.pass(Some(*crash))),
            Event::Edit(key, value) => self.edit(&name(*key), *value),
            Event::Remove(key) => self.remove(&name(*key)),
            Event::Squat(key, marked) => self.squat(*key, *marked),
            Event::Rest(seconds) => self
                .model
                .clock
                .advance(SignedDuration::from_secs(*seconds)),
        }
    }

    fn want(&mut self, values: &BTreeMap<String, u8>) {
        self.version += 1;
        self.desired = wants(self.version, values);
    }

    /// A pass, during which nothing that is not ours may change.
    fn pass(&self, crash: Option<Crash>) -> Option<bool> {
        let before = self.model.theirs();
        let settled = self
            .model
            .pass_with(&self.desired, crash, &Policy::default(), &self.how);
        assert_eq!(
            self.model.theirs(),
            before,
            "somebody else's things were touched"
        );
        settled
    }

    fn edit(&self, key: &str, value: u8) {
        let mut state = self.model.state();
        for thing in state
            .things
            .values_mut()
            .filter(|thing| thing.is_mine() && thing.key == key)
        {
            thing.value = value;
            thing.revision += 1;
        }
    }

    fn remove(&self, key: &str) {
        self.model
            .state()
            .things
            .retain(|_, thing| !(thing.is_mine() && thing.key == key));
    }

    /// Names are unique where the server checks them, and nobody guesses our names where not.
    fn squat(&self, key: u8, marked: bool) {
        let owner = marked.then_some(BOB);
        match self.model.finds {
            Finds::Ledger => self.model.put(&format!("theirs-{key}"), owner, 9),
            Finds::Mark | Finds::Inventory => {
                let taken = self
                    .model
                    .state()
                    .things
                    .values()
                    .any(|thing| thing.key == name(key));
                if !taken {
                    self.model.put(&name(key), owner, 9);
                }
            }
        }
    }

    /// Leaves the world in peace until a pass has nothing to do, and looks at what has become of it.
    fn end(&mut self) {
        if self.desired.is_empty_by_accident() {
            self.desired = Desired::nothing("the history ends");
        }
        for _ in 0..6 {
            self.model.clock.advance(SignedDuration::from_secs(60));
            self.pass(None);
        }
        let writes = self.model.state().writes;
        self.pass(None);
        assert_eq!(
            self.model.state().writes,
            writes,
            "a settled world is written to"
        );
        assert_eq!(self.model.mine(), self.expected());
    }

    /// Everything that is wanted, but for what somebody else has in our place.
    fn expected(&self) -> BTreeMap<String, Vec<u8>> {
        let squatted: BTreeSet<_> = self
            .model
            .theirs()
            .into_iter()
            .map(|thing| thing.key)
            .collect();
        let wanted = self
            .desired
            .iter()
            .filter(|(key, _)| !squatted.contains(*key));
        wanted
            .map(|(key, wanted)| (key.clone(), vec![wanted.item.0]))
            .collect()
    }
}

fn tell(model: Model, parallel: usize, events: &[Event]) {
    let mut history = History::new(model, parallel);
    for event in events {
        history.happen(event);
    }
    history.end();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_history_ends_as_wanted_and_leaks_nothing(
        finds in prop::sample::select(EVERY_WAY.to_vec()),
        slow_deletes: bool,
        lag in 0..29_i64,
        parallel in 1..5_usize,
        events in vec(event(), 1..25),
    ) {
        let model = Model { slow_deletes, lag, ..Model::new(finds) };
        tell(model, parallel, &events);
    }
}

/// A change of desired state that creates, updates and deletes, and finds one thing missing.
fn busy_change(finds: Finds) -> History {
    let values = |of: &[(u8, u8)]| of.iter().map(|(key, value)| (name(*key), *value)).collect();
    let mut history = History::new(
        Model {
            lag: 20,
            ..Model::new(finds)
        },
        2,
    );
    history.want(&values(&[(1, 1), (2, 1), (3, 1), (4, 1)]));
    history.pass(None);
    history.model.clock.advance(SignedDuration::from_secs(60));
    history.model.put("theirs", Some(BOB), 9);
    history.remove("k3");
    history.want(&values(&[(3, 1), (4, 2), (5, 1), (6, 1)]));
    history
}

fn writes_of_the_change(finds: Finds) -> usize {
    let history = busy_change(finds);
    let before = history.model.state().writes;
    assert_eq!(history.pass(None), Some(true));
    history.model.state().writes - before
}

fn crashes(writes: usize) -> impl Iterator<Item = Crash> + Clone {
    (0..=writes).flat_map(|after| [false, true].map(|arrives| Crash { after, arrives }))
}

#[test]
fn a_crash_at_every_write_and_another_during_recovery_leak_nothing() {
    for finds in EVERY_WAY {
        let writes = writes_of_the_change(finds);
        assert!(
            writes >= 6,
            "the change is busy enough to be worth crashing"
        );
        for first in crashes(writes) {
            for second in crashes(writes) {
                let mut history = busy_change(finds);
                history.pass(Some(first));
                history.pass(Some(second));
                history.end();
            }
        }
    }
}

#[test]
fn a_delete_stays_on_record_until_it_is_confirmed() {
    let mut history = busy_change(Finds::Inventory);
    history.model.slow_deletes = true;
    assert_eq!(history.pass(None), Some(false), "two deletes are under way");
    assert!(history.model.is_on_record("k1") && history.model.is_on_record("k2"));
    assert_eq!(history.pass(None), Some(true));
    assert!(!history.model.is_on_record("k1") && !history.model.is_on_record("k2"));
}

/// The fault that the record prevents, shown on a world whose record is lost behind its back.
#[test]
fn without_the_record_a_thing_would_leak() {
    let mut history = busy_change(Finds::Inventory);
    history.model.put("k7", Some(ME), 1);
    history.happen(&Event::WantNothing);
    for _ in 0..3 {
        history.pass(None);
    }
    assert_eq!(
        history.model.mine(),
        BTreeMap::from([("k7".to_owned(), vec![1])])
    );
}
