//! A world in memory that lags, crashes and can be meddled with, and that finds its things again in
//! one of three ways.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use evenkeel_ambient::{Clock, ManualClock};
use evenkeel_reconcile::ledger::{ById, Entry};
use evenkeel_reconcile::world::{ObservedOf, SnapshotOf, WantedOf};
use evenkeel_reconcile::{
    Acting, Claim, Deletion, Desired, Evidence, Failure, Ledger, Mark, Matches, Observed,
    Ownership, Policy, Reach, Recorded, Snapshot, Wanted, World, act, compare,
};
use jiff::SignedDuration;

pub(crate) const ME: &str = "me";
pub(crate) const BOB: &str = "bob";

/// How long the world may take to show what was created in it.
const WINDOW: SignedDuration = SignedDuration::from_secs(30);

/// Ours, but not at a version that anybody wrote down.
const UNRECORDED: Ownership<String> = Ownership::Mine { version: None };

/// By what a model world finds its own things again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finds {
    /// Things carry a mark, and all of them can be listed.
    Mark,
    /// Things carry a mark, but only those that are wanted or on record are ever looked at.
    Inventory,
    /// Things carry no mark, the server gives out ids, and lists lag behind.
    Ledger,
}

pub(crate) const EVERY_WAY: [Finds; 3] = [Finds::Mark, Finds::Inventory, Finds::Ledger];

/// What is wanted of a thing: its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value(pub(crate) u8);

impl Matches<Thing> for Value {
    fn difference(&self, live: &Thing) -> Option<String> {
        let differs = (live.value != self.0).then(|| format!("{} is not {}", live.value, self.0));
        differs.or_else(|| (!live.on_record).then(|| "its id is not on record".to_owned()))
    }
}

/// A thing in the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) value: u8,
    pub(crate) owner: Option<String>,
    pub(crate) version: String,
    pub(crate) revision: u32,
    pub(crate) leaving: bool,
    visible_from: i64,
    /// Whether whoever looks knows its id; always, but for a create whose reply was lost.
    on_record: bool,
}

impl Thing {
    pub(crate) fn is_mine(&self) -> bool {
        self.owner.as_deref() == Some(ME)
    }
}

impl Evidence for Thing {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.key
    }

    fn mark(&self, name: &str) -> Option<&str> {
        match name {
            "owner" => self.owner.as_deref(),
            "version" => Some(&self.version),
            _ => None,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("the process died")]
    Crashed,
    #[error("the thing is not what was seen")]
    Moved,
    #[error("the server does not like it")]
    Disliked,
}

impl Failure for Trouble {
    fn reach(&self) -> Reach {
        match self {
            Self::Crashed => Reach::World,
            Self::Moved => Reach::Stale,
            Self::Disliked => Reach::Thing,
        }
    }
}

/// When the process dies: after this many writes, and whether the fatal one still arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crash {
    pub(crate) after: usize,
    pub(crate) arrives: bool,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) things: BTreeMap<u32, Thing>,
    inventory: BTreeSet<String>,
    ledger: Ledger<String, String>,
    /// What desired state names, which is all that a world with an inventory looks at besides.
    wanted: BTreeSet<String>,
    /// Keys that the server refuses to write.
    pub(crate) disliked: BTreeSet<String>,
    pub(crate) writes: usize,
    crash: Option<Crash>,
    dead: bool,
    made: u32,
}

pub(crate) struct Model {
    pub(crate) finds: Finds,
    /// Whether a delete takes until the next tick.
    pub(crate) slow_deletes: bool,
    /// How many seconds a list lags behind.
    pub(crate) lag: i64,
    pub(crate) clock: ManualClock,
    pub(crate) state: Mutex<State>,
}

pub(crate) type ModelDesired = Desired<String, Value, String>;

/// Desired state at `version` with these values.
pub(crate) fn wants(version: u32, values: &BTreeMap<String, u8>) -> ModelDesired {
    let wanted = |value: &u8| Wanted::new(Value(*value), format!("v{version}"));
    Desired::things(
        values
            .iter()
            .map(|(key, value)| (key.clone(), wanted(value))),
    )
    .unwrap()
}

impl Model {
    pub(crate) fn new(finds: Finds) -> Self {
        let (clock, state) = (ManualClock::default(), Mutex::default());
        Self {
            finds,
            slow_deletes: false,
            lag: 0,
            clock,
            state,
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// One pass as a process would make it that starts now and may die on the way.
    pub(crate) fn pass(&self, desired: &ModelDesired, crash: Option<Crash>) -> Option<bool> {
        self.pass_with(desired, crash, &Policy::default(), &Acting::default())
    }

    /// The same with a policy; whether it settled everything, or `None` if it failed.
    pub(crate) fn pass_with(
        &self,
        desired: &ModelDesired,
        crash: Option<Crash>,
        policy: &Policy<String>,
        how: &Acting,
    ) -> Option<bool> {
        self.begin(desired, crash);
        let snapshot = futures::executor::block_on(self.observe()).ok()?;
        let plan = compare(desired, &snapshot, policy, self.clock.now());
        let changes = futures::executor::block_on(act(self, &plan, how)).ok()?;
        Some(changes.is_settled())
    }

    /// A new process: time has passed, deletes have finished, and the last crash is forgotten.
    pub(crate) fn begin(&self, desired: &ModelDesired, crash: Option<Crash>) {
        self.clock.advance(SignedDuration::from_secs(1));
        let mut state = self.state();
        (state.crash, state.dead) = (crash, false);
        state.wanted = desired.iter().map(|(key, _)| key.clone()).collect();
        state.things.retain(|_, thing| !thing.leaving);
    }

    /// Somebody puts a thing there.
    pub(crate) fn put(&self, key: &str, owner: Option<&str>, value: u8) {
        let mut state = self.state();
        let (name, version) = (key.to_owned(), "theirs".to_owned());
        state.insert(name, owner.map(str::to_owned), value, version, 0);
    }

    pub(crate) fn is_on_record(&self, key: &str) -> bool {
        let state = self.state();
        state.inventory.contains(key) || state.ledger.get(&key.to_owned()).is_some()
    }

    /// What the things of ours are, by key; more than one value where there are duplicates.
    pub(crate) fn mine(&self) -> BTreeMap<String, Vec<u8>> {
        let mut mine: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for thing in self.state().things.values().filter(|thing| thing.is_mine()) {
            mine.entry(thing.key.clone()).or_default().push(thing.value);
        }
        mine
    }

    /// What is not ours, as it is.
    pub(crate) fn theirs(&self) -> Vec<Thing> {
        let state = self.state();
        state
            .things
            .values()
            .filter(|thing| !thing.is_mine())
            .cloned()
            .collect()
    }

    /// Writes, unless the process died before.
    fn write<T>(&self, write: impl FnOnce(&mut State) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let mut state = self.state();
        if state.dead {
            return Err(Trouble::Crashed);
        }
        match &mut state.crash {
            Some(Crash { after: 0, arrives }) => {
                if *arrives {
                    let _ = write(&mut state);
                }
                state.dead = true;
                return Err(Trouble::Crashed);
            }
            Some(crash) => crash.after -= 1,
            None => {}
        }
        state.writes += 1;
        write(&mut state)
    }

    fn see(
        &self,
        state: &State,
        thing: &Thing,
        ledger: &ById<'_, String, String>,
    ) -> (String, ObservedOf<Self>) {
        let mark = Mark::new("owner", ME).unwrap().versioned("version");
        let mut seen = thing.clone();
        let (key, ownership) = match self.finds {
            Finds::Mark | Finds::Inventory => (thing.key.clone(), mark.ownership(thing)),
            Finds::Ledger => {
                let intended = matches!(state.ledger.get(&thing.key), Some(Entry::Intended { .. }));
                match ledger.ownership(thing) {
                    Ownership::Nobody if intended => (thing.key.clone(), UNRECORDED),
                    Ownership::Nobody => (format!("alien/{}", thing.id), Ownership::Nobody),
                    listed => (thing.key.clone(), listed),
                }
            }
        };
        seen.on_record = ownership != UNRECORDED;
        let observed = Observed::new(seen, ownership);
        (
            key,
            if thing.leaving {
                observed.leaving()
            } else {
                observed
            },
        )
    }

    fn is_looked_at(&self, state: &State, thing: &Thing) -> bool {
        match self.finds {
            Finds::Mark => true,
            Finds::Inventory => {
                state.wanted.contains(&thing.key) || state.inventory.contains(&thing.key)
            }
            Finds::Ledger => thing.visible_from <= self.clock.now().as_second(),
        }
    }

    fn change(
        &self,
        key: &str,
        seen: &Thing,
        change: impl FnOnce(&mut Thing),
    ) -> Result<(), Trouble> {
        self.write(|state| {
            if state.disliked.contains(key) {
                return Err(Trouble::Disliked);
            }
            let same = |thing: &&mut Thing| thing.id == seen.id && thing.revision == seen.revision;
            let thing = state.things.values_mut().find(same).ok_or(Trouble::Moved)?;
            change(thing);
            thing.revision += 1;
            Ok(())
        })
    }

    /// In worlds with a ledger, a write counts once its result is on record.
    fn put_on_record(&self, key: &String, id: String, version: &str) -> Result<(), Trouble> {
        if self.finds != Finds::Ledger {
            return Ok(());
        }
        let now = self.clock.now();
        self.write(|state| {
            state.ledger.made(key, id, version.to_owned(), now);
            Ok(())
        })
    }
}

impl State {
    pub(crate) fn insert(
        &mut self,
        key: String,
        owner: Option<String>,
        value: u8,
        version: String,
        visible_from: i64,
    ) -> String {
        self.made += 1;
        let id = format!("id-{}", self.made);
        let thing = Thing {
            id: id.clone(),
            key,
            value,
            owner,
            version,
            revision: 0,
            leaving: false,
            visible_from,
            on_record: true,
        };
        self.things.insert(self.made, thing);
        id
    }

    /// Whether a create of `key` would come second.
    fn exists(&self, key: &String, finds: Finds) -> bool {
        match finds {
            Finds::Mark | Finds::Inventory => self.things.values().any(|thing| thing.key == *key),
            // The name is not the server's to check; the id that was given out before is.
            Finds::Ledger => {
                let earlier = self.ledger.get(key).and_then(|entry| entry.id());
                earlier.is_some_and(|id| self.things.values().any(|thing| thing.id == id))
            }
        }
    }
}

impl World for Model {
    type Key = String;
    type Item = Value;
    type Live = Thing;
    type Version = String;
    type Error = Trouble;

    async fn observe(&self) -> Result<SnapshotOf<Self>, Trouble> {
        let state = self.state();
        let ledger = state.ledger.by_id();
        let looked_at = state
            .things
            .values()
            .filter(|thing| self.is_looked_at(&state, thing));
        let snapshot = Snapshot::of(looked_at.map(|thing| self.see(&state, thing, &ledger)));
        Ok(match self.finds {
            Finds::Mark => snapshot,
            Finds::Inventory => {
                let listed = state.inventory.iter().cloned();
                snapshot.with_record(listed.map(|key| (key, Recorded::Intended)))
            }
            Finds::Ledger => snapshot.with_record(state.ledger.record(self.clock.now(), WINDOW)),
        })
    }

    async fn create(&self, key: &String, wanted: &WantedOf<Self>) -> Result<(), Trouble> {
        let visible_from = self.clock.now().as_second() + self.lag;
        let id = self.write(|state| {
            if state.disliked.contains(key) {
                return Err(Trouble::Disliked);
            }
            if state.exists(key, self.finds) {
                return Err(Trouble::Moved);
            }
            let (owner, version) = (Some(ME.to_owned()), wanted.version.clone());
            Ok(state.insert(key.clone(), owner, wanted.item.0, version, visible_from))
        })?;
        self.put_on_record(key, id, &wanted.version)
    }

    async fn update(
        &self,
        key: &String,
        wanted: &WantedOf<Self>,
        seen: &ObservedOf<Self>,
    ) -> Result<(), Trouble> {
        self.change(key, &seen.live, |thing| {
            thing.value = wanted.item.0;
            thing.version.clone_from(&wanted.version);
            thing.owner = Some(ME.to_owned());
        })?;
        self.put_on_record(key, seen.live.id.clone(), &wanted.version)
    }

    async fn delete(&self, key: &String, seen: &ObservedOf<Self>) -> Result<Deletion, Trouble> {
        let id = &seen.live.id;
        if self.state().things.values().all(|thing| thing.id != *id) {
            return Ok(Deletion::Gone);
        }
        self.change(key, &seen.live, |thing| thing.leaving = true)?;
        if self.slow_deletes {
            return Ok(Deletion::Leaving);
        }
        self.state().things.retain(|_, thing| thing.id != *id);
        Ok(Deletion::Gone)
    }

    async fn release(&self, key: &String, seen: &ObservedOf<Self>) -> Result<bool, Trouble> {
        if self.finds == Finds::Ledger {
            return Ok(false);
        }
        self.change(key, &seen.live, |thing| thing.owner = None)?;
        Ok(true)
    }

    async fn remember(&self, keys: &[&String]) -> Result<(), Trouble> {
        let now = self.clock.now();
        self.write(|state| {
            for key in keys {
                match self.finds {
                    Finds::Mark => {}
                    Finds::Inventory => drop(state.inventory.insert((*key).clone())),
                    Finds::Ledger => state.ledger.intend(key, now),
                }
            }
            Ok(())
        })
    }

    async fn forget(&self, keys: &[&String]) -> Result<(), Trouble> {
        self.write(|state| {
            for key in keys {
                state.inventory.remove(*key);
                state.ledger.forget(key);
            }
            Ok(())
        })
    }
}
