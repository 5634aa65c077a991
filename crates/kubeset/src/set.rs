//! The objects of one owner, and what may be done with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_reconcile::world::World;
use evenkeel_reconcile::{
    Acting, Attempt, ChangeSet, Desired, Interrupted, Policy, Stage, Word, act, compare,
};
use tokio::sync::{Mutex, MutexGuard, watch};

use crate::bells::Rings;
use crate::cluster::{Cluster, Shared};
use crate::drift::{DriftRecord, Fight, Fights, Ignore};
use crate::error::Error;
use crate::inventory::{Found, Inventory, Storage};
use crate::item::{DesiredSet, resolve};
use crate::key::{GroupKind, ObjectKey};
use crate::manifest::{Manifests, Warning};
use crate::metadata::{Metadata, Seen};
use crate::owner::{Claim, Owner, Whose};
use crate::sweep::Sweep;
use crate::world::SetWorld;

/// What may be done on the way to a wanted set.
#[derive(Debug, Clone, Default)]
pub struct SetPolicy {
    /// What the engine is to respect: pruning, adopting, drift, brake and approval.
    pub engine: Policy<ObjectKey>,
    /// Annotations for every object, beside the one that names the owner.
    pub annotations: BTreeMap<String, String>,
    /// Labels for every object, beside the one that names the owner.
    pub labels: BTreeMap<String, String>,
    /// The namespace of objects that need one and name none; when empty, that of the parent, or
    /// else `default`.
    pub default_namespace: String,
    /// Look at the cluster anew instead of trusting what is remembered: one list for each kind, and
    /// the inventory read again.
    pub anew: bool,
    /// Fields that others may have.
    pub ignore: Vec<Ignore>,
    /// Objects that cannot be changed in place are deleted and made anew; never claims of
    /// storage, namespaces or definitions.
    pub replace: bool,
    /// The sets that objects may be taken from. Converge the receiving set before, or at the same
    /// time as, the one that gives.
    pub take_from: BTreeSet<Owner>,
}

/// What became of a set.
#[derive(Debug)]
pub struct Converged {
    /// What was done about every object, also when something failed.
    pub result: Result<ChangeSet<ObjectKey>, Interrupted<ObjectKey, Error>>,
    /// What others had done to our objects.
    pub drift: Vec<DriftRecord>,
    /// Fields that others take again and again.
    pub fights: Vec<Fight>,
    /// What was written in the manifests and does not count.
    pub warnings: Vec<Warning>,
    /// Namespaces that this attempt made and removed again because it failed.
    pub undone: Vec<String>,
}

impl Converged {
    /// What was done about every object.
    pub fn changes(&self) -> &ChangeSet<ObjectKey> {
        match &self.result {
            Ok(changes) => changes,
            Err(interrupted) => &interrupted.changes,
        }
    }

    /// Whether every object is now as it should be.
    pub fn is_settled(&self) -> bool {
        self.result.as_ref().is_ok_and(ChangeSet::is_settled)
    }

    fn failed(error: Error) -> Self {
        let changes = ChangeSet::default();
        let failures = vec![evenkeel_reconcile::Failed {
            attempt: Attempt::Observe,
            error,
        }];
        Self {
            result: Err(Interrupted { changes, failures }),
            drift: Vec::new(),
            fights: Vec::new(),
            warnings: Vec::new(),
            undone: Vec::new(),
        }
    }
}

/// The objects of one owner in one cluster.
#[derive(Debug)]
pub struct Set {
    cluster: Cluster,
    whose: Whose,
    memory: Mutex<Memory>,
    bell: watch::Receiver<Rings>,
    heard: u64,
}

/// What a set remembers from pass to pass.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// `None` until it was read, and when it turned out to be outdated.
    inventory: Option<Inventory>,
    /// What could not be seen when the inventory was rebuilt.
    gaps: Vec<(String, String)>,
    fights: Fights,
    loaded: bool,
}

impl Memory {
    /// Keeps what an attempt left. An inventory that could not be written is read again before
    /// the next one.
    pub(crate) fn keep(&mut self, (inventory, fights): (Option<Inventory>, Fights)) {
        (self.inventory, self.fights) = (inventory, fights);
    }
}

impl Set {
    pub(crate) fn new(cluster: Cluster, whose: Whose) -> Self {
        let bell = cluster.0.view.bells().bell(whose.mark().as_str());
        let heard = bell.borrow().touched;
        let memory = Mutex::default();
        Self {
            cluster,
            whose,
            memory,
            bell,
            heard,
        }
    }

    /// Whose objects these are: a name, or the uid of a parent.
    pub fn owner(&self) -> &Owner {
        self.whose.mark()
    }

    /// Waits until somebody else changes an object of this set.
    pub async fn changed(&mut self) {
        let heard = self.heard;
        // The sender lives as long as the cluster, which we hold.
        if let Ok(rung) = self.bell.wait_for(|rung| rung.touched != heard).await {
            self.heard = rung.touched;
        }
    }

    /// Counts what happens to the objects of this set from now on.
    pub fn rings(&self) -> watch::Receiver<Rings> {
        self.shared().view.bells().bell(self.owner().as_str())
    }

    /// Makes the objects in the cluster those that `manifests` describe.
    pub async fn converge(&self, manifests: &Manifests, policy: &SetPolicy) -> Converged {
        let desired = match resolve(self.shared(), &self.whose, policy, manifests).await {
            Ok(desired) => desired,
            Err(error) => return Converged::failed(error),
        };
        if !policy.take_from.is_empty() {
            self.shared()
                .announce(self.owner(), desired.iter().map(|(key, _)| key));
        }
        let mut converged = self.bring_about(&desired, policy).await;
        if converged.is_settled() {
            self.shared().arrived(self.owner());
        }
        converged.warnings.clone_from(&manifests.warnings);
        converged
    }

    /// Removes every object of the set, because somebody asked for it.
    pub async fn remove(&self, because: &str, policy: &SetPolicy) -> Converged {
        self.bring_about(&Desired::nothing(because), policy).await
    }

    /// The objects that the set may have.
    pub(crate) async fn keys(&self) -> Result<BTreeSet<ObjectKey>, Error> {
        let memory = self.memory_for(&SetPolicy::default()).await?;
        let inventory = memory.inventory.iter();
        Ok(inventory.flat_map(Inventory::keys).cloned().collect())
    }

    /// The kinds of which the set may have objects.
    pub(crate) fn kinds(&self, keys: &BTreeSet<ObjectKey>) -> BTreeSet<GroupKind> {
        let mut kinds: BTreeSet<_> = keys.iter().map(|key| key.kind.clone()).collect();
        if self.whose.parent().is_some() {
            kinds.extend(self.shared().settings.child_kinds.iter().cloned());
        }
        kinds
    }

    /// Whether an object is of this set.
    pub(crate) fn owns(&self, metadata: Metadata) -> bool {
        let live = self.shared().view.read(Seen { metadata });
        self.whose.claim(&live) == Claim::Ours
    }

    pub(crate) fn whose(&self) -> &Whose {
        &self.whose
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.cluster.0
    }

    /// Where the inventory is kept. What a parent has is found by its label.
    fn storage(&self) -> Option<Storage<'_>> {
        match &self.whose {
            Whose::Child(_) => None,
            Whose::Named(owner) => Some(Storage {
                calls: &self.shared().calls,
                namespace: &self.shared().settings.inventory_namespace,
                owner,
            }),
        }
    }

    async fn bring_about(&self, desired: &DesiredSet, policy: &SetPolicy) -> Converged {
        let mut memory = match self.memory_for(policy).await {
            Ok(memory) => memory,
            Err(error) => return Converged::failed(error),
        };
        let world = self.world(&mut memory, desired, policy);
        let converged = passes(&world, desired, policy).await;
        world.tidy();
        let left = world.into_memory();
        memory.keep(left);
        converged
    }

    /// What is remembered; read from the cluster where it is not, or where that is the `policy`.
    pub(crate) async fn memory_for(
        &self,
        policy: &SetPolicy,
    ) -> Result<MutexGuard<'_, Memory>, Error> {
        let mut memory = self.memory.lock().await;
        if policy.anew {
            memory.inventory = None;
        }
        self.load(&mut memory).await?;
        Ok(memory)
    }

    /// The set during one attempt, with all that is remembered.
    pub(crate) fn world<'a>(
        &'a self,
        memory: &'a mut Memory,
        desired: &'a DesiredSet,
        policy: &'a SetPolicy,
    ) -> SetWorld<'a> {
        let inventory = memory.inventory.take().unwrap_or_default();
        let fights = std::mem::take(&mut memory.fights);
        SetWorld::new(
            self.shared(),
            &self.whose,
            desired,
            policy,
            self.storage(),
            inventory,
            fights,
            &memory.gaps,
        )
    }

    /// Reads the inventory, or makes it anew from what the cluster holds.
    async fn load(&self, memory: &mut Memory) -> Result<(), Error> {
        let again = memory.loaded;
        if memory.inventory.is_some() && memory.gaps.is_empty() {
            return Ok(());
        }
        let found = match self.storage() {
            Some(storage) => storage.find().await?,
            None => Found::Whole(Inventory::default()),
        };
        let (mut inventory, lost) = match found {
            Found::Whole(inventory) => (inventory, false),
            Found::Lost(inventory) => (inventory, true),
        };
        memory.gaps.clear();
        if lost {
            let sweep = self.sweep(again).await?;
            sweep
                .of(self.owner())
                .for_each(|(key, uid)| inventory.made(key, uid));
            memory.gaps.clone_from(&sweep.gaps);
            inventory.set_pending(!sweep.gaps.is_empty());
        }
        (memory.inventory, memory.loaded) = (Some(inventory), true);
        Ok(())
    }

    /// What all sets have. When a process starts, one look serves all its sets.
    async fn sweep(&self, again: bool) -> Result<Arc<Sweep>, Error> {
        let mut kept = self.shared().sweep.lock().await;
        match &*kept {
            Some(sweep) if !again && sweep.gaps.is_empty() => Ok(sweep.clone()),
            _ => Ok(kept
                .insert(Arc::new(Sweep::run(self.shared()).await?))
                .clone()),
        }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        self.shared().view.leave(self.owner().as_str());
    }
}

/// One pass, and another when it met objects that had not been seen.
async fn passes(world: &SetWorld<'_>, desired: &DesiredSet, policy: &SetPolicy) -> Converged {
    let mut result = pass(world, desired, policy).await;
    if result.is_ok() && world.met_strangers() {
        let first = result;
        result = pass(world, desired, policy).await;
        result = merged(&first, result);
    }
    let undone = match &result {
        Err(interrupted) if failed_to_apply(interrupted) => world.undo_namespaces().await,
        Ok(_) | Err(_) => Vec::new(),
    };
    if let Err(error) = world.finish().await {
        result = result.and_then(|changes| {
            let failures = vec![evenkeel_reconcile::Failed {
                attempt: Attempt::Forget,
                error,
            }];
            Err(Interrupted { changes, failures })
        });
    }
    let (drift, fights) = world.reports();
    Converged {
        result,
        drift,
        fights,
        warnings: Vec::new(),
        undone,
    }
}

type Passed = Result<ChangeSet<ObjectKey>, Interrupted<ObjectKey, Error>>;

async fn pass(world: &SetWorld<'_>, desired: &DesiredSet, policy: &SetPolicy) -> Passed {
    let snapshot = world.observe().await.map_err(|error| Interrupted {
        changes: ChangeSet::default(),
        failures: vec![evenkeel_reconcile::Failed {
            attempt: Attempt::Observe,
            error,
        }],
    })?;
    let plan = compare(desired, &snapshot, &policy.engine, world.now());
    let how = Acting {
        parallel: world.parallel(),
        ..Acting::default()
    };
    act(world, &plan, &how).await
}

/// The words of the second pass, except where it only confirms what the first one did.
fn merged(first: &Passed, second: Passed) -> Passed {
    let (Ok(first), Ok(second)) = (first, &second) else {
        return second;
    };
    let done: BTreeMap<_, _> = first
        .iter()
        .filter(|change| change.word.is_write())
        .map(|change| (&change.key, change))
        .collect();
    let newest = |change: &evenkeel_reconcile::Change<ObjectKey>| match done.get(&change.key) {
        Some(first) if change.word == Word::Kept => (*first).clone(),
        _ => change.clone(),
    };
    let gone = done
        .values()
        .filter(|change| second.iter().all(|later| later.key != change.key));
    Ok(second
        .iter()
        .map(newest)
        .chain(gone.map(|change| (*change).clone()))
        .collect())
}

/// Whether something that should exist does not; a delete that failed leaves all of it in place.
fn failed_to_apply(interrupted: &Interrupted<ObjectKey, Error>) -> bool {
    interrupted
        .failures
        .iter()
        .any(|failed| match &failed.attempt {
            Attempt::Enter(Stage::Apply(_)) => true,
            Attempt::Step(verb, _) => *verb != "delete",
            Attempt::Observe
            | Attempt::Remember
            | Attempt::Enter(Stage::Prune(_))
            | Attempt::Forget => false,
        })
}
