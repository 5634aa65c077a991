//! What to do, in which order, and why.

use std::borrow::Cow;

use crate::desired::{Rank, Wanted};
use crate::reason::{Reason, WhyCreate, WhyDelete, WhyKeep, WhyRefuse, WhyUpdate};
use crate::snapshot::Observed;
use crate::world::Stage;

/// What to do about every key, in the order of work: everything that makes or changes by ascending
/// rank, then the deletes by descending rank; within a rank by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan<'a, K, I, L, V> {
    /// The steps in the order of work.
    pub steps: Vec<Step<'a, K, I, L, V>>,
    /// What becomes of our record, in worlds that keep one.
    pub record: Option<RecordPlan<'a, K>>,
}

/// What becomes of our record of what may exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordPlan<'a, K> {
    /// What has to be written to it before the first step.
    pub remember: Vec<&'a K>,
    /// What can be taken from it whatever the steps do.
    pub forget: Vec<&'a K>,
}

impl<K> Default for RecordPlan<'_, K> {
    fn default() -> Self {
        Self {
            remember: Vec::new(),
            forget: Vec::new(),
        }
    }
}

impl<K, I, L, V> Plan<'_, K, I, L, V> {
    /// The steps that write.
    pub fn writes(&self) -> impl Iterator<Item = &Step<'_, K, I, L, V>> {
        self.steps.iter().filter(|step| step.action.is_write())
    }

    /// Whether desired state is reached: nothing to write and nothing refused.
    pub fn is_settled(&self) -> bool {
        self.steps
            .iter()
            .all(|step| matches!(step.action, Action::Keep(_)))
    }
}

/// What to do about one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<'a, K, I, L, V> {
    /// Which thing.
    pub key: &'a K,
    /// When.
    pub rank: Rank,
    /// What.
    pub action: Action<'a, I, L, V>,
}

impl<K, I, L, V> Step<'_, K, I, L, V> {
    /// The group of independent steps that it belongs to.
    pub fn stage(&self) -> Stage {
        match self.action {
            Action::Delete { .. } | Action::Release { .. } => Stage::Prune(self.rank),
            Action::Create { .. }
            | Action::Update { .. }
            | Action::Adopt { .. }
            | Action::Keep(_)
            | Action::Refuse(_) => Stage::Apply(self.rank),
        }
    }
}

/// What to do, with what it takes and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action<'a, I, L, V> {
    /// Make it.
    Create {
        /// What it should be.
        wanted: &'a Wanted<I, V>,
        /// Why.
        why: WhyCreate,
    },
    /// Change it.
    Update {
        /// What it should be.
        wanted: &'a Wanted<I, V>,
        /// What it is.
        observed: &'a Observed<L, V>,
        /// Why.
        why: WhyUpdate,
    },
    /// Make a thing that is nobody's ours, and change it to what is wanted.
    Adopt {
        /// What it should be.
        wanted: &'a Wanted<I, V>,
        /// What it is.
        observed: &'a Observed<L, V>,
    },
    /// Remove it.
    Delete {
        /// What it is.
        observed: &'a Observed<L, V>,
        /// Why.
        why: WhyDelete,
    },
    /// Let go of it: it stays, and is not ours any more.
    Release {
        /// What it is.
        observed: &'a Observed<L, V>,
    },
    /// Leave it: it is as it should be.
    Keep(WhyKeep),
    /// Leave it, although it is not as it should be.
    Refuse(WhyRefuse),
}

impl<I, L, V> Action<'_, I, L, V> {
    /// Whether it writes to the world.
    pub fn is_write(&self) -> bool {
        !matches!(self, Self::Keep(_) | Self::Refuse(_))
    }

    /// What it does, as a verb.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Update { .. } => "update",
            Self::Adopt { .. } => "adopt",
            Self::Delete { .. } => "delete",
            Self::Release { .. } => "release",
            Self::Keep(_) => "keep",
            Self::Refuse(_) => "refuse",
        }
    }

    /// Why, as a CamelCase word from a closed list and as a text.
    pub fn why(&self) -> (&'static str, Cow<'static, str>) {
        let reason: &dyn Reason = match self {
            Self::Create { why, .. } => why,
            Self::Update { why, .. } => why,
            Self::Adopt { .. } => return ("Adopted", Cow::Borrowed("it was nobody's")),
            Self::Delete { why, .. } => why,
            Self::Release { .. } => {
                let text = "it is no longer wanted, and is to stay";
                return ("Released", Cow::Borrowed(text));
            }
            Self::Keep(why) => why,
            Self::Refuse(why) => why,
        };
        (reason.word(), Cow::Owned(reason.to_string()))
    }

    /// Whether it deletes.
    pub fn is_delete(&self) -> bool {
        matches!(self, Self::Delete { .. })
    }
}
