//! What may be done on the way to desired state.

use std::collections::BTreeSet;

/// What may be done on the way to desired state. Every default is the careful choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy<K> {
    /// What becomes of things of ours that are no longer wanted.
    pub prune: Prune,
    /// What becomes of wanted things that exist already and are nobody's.
    pub adopt: Adopt,
    /// Who else may use the world.
    pub tenancy: Tenancy,
    /// What becomes of things that somebody else changed.
    pub drift: Drift,
    /// How a thing in the world is named.
    pub naming: Naming,
    /// How many deletes at once need approval.
    pub brake: Brake,
    /// Which approval was given.
    pub approval: Approval,
    /// Keys that are never deleted, not even with approval.
    pub protected: BTreeSet<K>,
}

impl<K: Ord> Default for Policy<K> {
    fn default() -> Self {
        Self {
            prune: Prune::default(),
            adopt: Adopt::default(),
            tenancy: Tenancy::default(),
            drift: Drift::default(),
            naming: Naming::default(),
            brake: Brake::default(),
            approval: Approval::default(),
            protected: BTreeSet::new(),
        }
    }
}

/// What becomes of things of ours that are no longer wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prune {
    /// They are deleted.
    #[default]
    Delete,
    /// They stay, and stay ours.
    Off,
    /// They stay, and we let go of them.
    Release,
}

/// What becomes of wanted things that exist already and are nobody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Adopt {
    /// They are left alone and reported.
    #[default]
    Off,
    /// They become ours.
    On,
}

/// Who else may use the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tenancy {
    /// Others do: what is nobody's is left alone.
    #[default]
    Shared,
    /// Nobody does: what carries no owner's mark is ours, to adopt or to clean up. What carries
    /// another owner's mark is left alone even so.
    Exclusive,
}

/// What becomes of things that are at the wanted version, but that somebody else changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Drift {
    /// Nobody looks.
    Off,
    /// The difference is reported and stays.
    Warn,
    /// The difference is repaired.
    #[default]
    Enforce,
}

/// How a thing in the world is named, which decides what a second create does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// By the key: a second create of one key is refused by the world.
    #[default]
    ByKey,
    /// By an id that the server gives out: a second create makes a second thing, so nothing is
    /// created on a partial view.
    ByServer,
}

/// How many deletes at once need approval: when they are more than `count` things **and** more
/// than `percent` of all that is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brake {
    /// Up to this many deletes always pass.
    pub count: usize,
    /// Up to this share of what is ours always passes.
    pub percent: u8,
}

impl Default for Brake {
    fn default() -> Self {
        Self {
            count: 10,
            percent: 50,
        }
    }
}

impl Brake {
    /// Lets every delete pass.
    pub const RELEASED: Self = Self {
        count: usize::MAX,
        percent: 100,
    };

    /// Whether `deletes` of `ours` things need approval.
    pub fn holds(&self, deletes: usize, ours: usize) -> bool {
        deletes > self.count
            && deletes.saturating_mul(100) > ours.saturating_mul(self.percent.into())
    }
}

/// Which approval somebody gave for deletes that need one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// None.
    #[default]
    NotGiven,
    /// For up to this many deletes: what a person saw and agreed to, and no more.
    UpTo(usize),
    /// For whatever the plan deletes.
    Given,
}

impl Approval {
    /// Whether it covers a plan with this many deletes.
    pub fn covers(self, deletes: usize) -> bool {
        match self {
            Self::NotGiven => false,
            Self::UpTo(most) => deletes <= most,
            Self::Given => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brake_holds_only_past_both_limits() {
        let brake = Brake::default();
        assert!(brake.holds(11, 21));
        assert!(!brake.holds(11, 22), "half is not more than half");
        assert!(!brake.holds(10, 10), "ten is not more than ten");
        assert!(!Brake::RELEASED.holds(1_000_000, 1_000_000));
    }

    #[test]
    fn an_approval_covers_what_was_seen_and_no_more() {
        assert!(Approval::UpTo(12).covers(12));
        assert!(!Approval::UpTo(12).covers(13));
        assert!(!Approval::NotGiven.covers(0));
    }
}
