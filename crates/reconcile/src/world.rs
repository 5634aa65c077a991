//! What the engine asks of a world.

use std::error::Error;
use std::future::{Future, ready};

use crate::desired::{Desired, Key, Matches, Rank, Wanted};
use crate::plan::{Plan, Step};
use crate::snapshot::{Observed, Snapshot};

/// The snapshot of a world.
pub type SnapshotOf<W> = Snapshot<<W as World>::Key, <W as World>::Live, <W as World>::Version>;

/// A wanted thing of a world.
pub type WantedOf<W> = Wanted<<W as World>::Item, <W as World>::Version>;

/// A thing of a world as it was seen.
pub type ObservedOf<W> = Observed<<W as World>::Live, <W as World>::Version>;

/// A step of a plan for a world.
pub type StepOf<'a, W> =
    Step<'a, <W as World>::Key, <W as World>::Item, <W as World>::Live, <W as World>::Version>;

/// The desired state of a world.
pub type DesiredOf<W> = Desired<<W as World>::Key, <W as World>::Item, <W as World>::Version>;

/// A plan for a world.
pub type PlanOf<'a, W> =
    Plan<'a, <W as World>::Key, <W as World>::Item, <W as World>::Live, <W as World>::Version>;

/// Something that can be observed and changed: a cluster, a cloud API, a map in memory.
///
/// Every change may come twice, because a crash forgets what was done. So a create of what exists,
/// an update of what is gone, and a delete or update of what changed since it was seen fail with
/// [`Reach::Stale`], and a delete of what is gone succeeds.
pub trait World: Send + Sync {
    /// Identifies a thing.
    type Key: Key;
    /// What is wanted of a thing.
    type Item: Matches<Self::Live> + Send + Sync;
    /// A thing as it is, with what an update or delete needs as its precondition.
    type Live: Send + Sync;
    /// A version of desired state.
    type Version: PartialEq + Send + Sync;
    /// What can go wrong.
    type Error: Failure;

    /// Looks at the world. What cannot be seen makes the snapshot partial; an error means that
    /// nothing at all could be seen.
    fn observe(&self) -> impl Future<Output = Result<SnapshotOf<Self>, Self::Error>> + Send;

    /// Makes a thing, with the mark of ownership in the same call.
    fn create(
        &self,
        key: &Self::Key,
        wanted: &WantedOf<Self>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Changes a thing of ours, if it is still the one that was seen.
    fn update(
        &self,
        key: &Self::Key,
        wanted: &WantedOf<Self>,
        seen: &ObservedOf<Self>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Makes a thing that is nobody's ours, if it is still the one that was seen.
    fn adopt(
        &self,
        key: &Self::Key,
        wanted: &WantedOf<Self>,
        seen: &ObservedOf<Self>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.update(key, wanted, seen)
    }

    /// Removes a thing, if it is still the one that was seen.
    fn delete(
        &self,
        key: &Self::Key,
        seen: &ObservedOf<Self>,
    ) -> impl Future<Output = Result<Deletion, Self::Error>> + Send;

    /// Lets go of a thing that stays: takes our mark off it, if it is still the one that was seen.
    /// Says whether there was anything to write; where things carry no mark there is not.
    fn release(
        &self,
        key: &Self::Key,
        seen: &ObservedOf<Self>,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send {
        let _ = (key, seen);
        ready(Ok(false))
    }

    /// Writes down that these may exist from now on. Called before the first write of a plan, so
    /// that a crash at any moment leaves nothing that nobody remembers. Worlds that find their
    /// things by a mark need no record.
    fn remember(
        &self,
        keys: &[&Self::Key],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        let _ = keys;
        ready(Ok(()))
    }

    /// Takes from the record what is confirmed to be gone. Called after the last write of a plan.
    fn forget(&self, keys: &[&Self::Key]) -> impl Future<Output = Result<(), Self::Error>> + Send {
        let _ = keys;
        ready(Ok(()))
    }

    /// Called before the first write of each stage with all steps that are still ahead, this
    /// stage's first. The place to validate them, or to wait for what earlier stages made; an
    /// error stops the plan here.
    fn enter(
        &self,
        stage: Stage,
        ahead: &[StepOf<'_, Self>],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        let _ = (stage, ahead);
        ready(Ok(()))
    }
}

/// A group of steps that are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Creates, updates and adoptions of one rank.
    Apply(Rank),
    /// Deletes of one rank.
    Prune(Rank),
}

impl Stage {
    /// The place in the order of work: up the ranks, and down again for the deletes.
    pub(crate) fn place(self) -> (bool, i64) {
        match self {
            Self::Apply(Rank(rank)) => (false, rank.into()),
            Self::Prune(Rank(rank)) => (true, -i64::from(rank)),
        }
    }
}

/// What became of a delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// The thing is gone; the world confirmed it.
    Gone,
    /// The thing is on its way out; a later look will confirm it.
    Leaving,
}

/// An error of a world: says how far it reaches.
pub trait Failure: Error + Send + Sync + 'static {
    /// How far the failure reaches, which decides whether the rest of the plan goes on.
    fn reach(&self) -> Reach;
}

/// How far a failure reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// No failure of the world: it moved on since the snapshot (the thing exists already, is gone,
    /// or has changed). The rest of the plan goes on, and the next pass sees it.
    Stale,
    /// This thing alone. Independent things go on; what builds on it, and every delete, waits.
    Thing,
    /// Everything: the next call would fail alike. Nothing more is tried.
    World,
}
