//! Why something is done or left alone: a word for machines and a sentence for people.

use std::fmt::{self, Display};
use std::sync::Arc;

use jiff::Timestamp;

use crate::snapshot::Contention;

/// A reason from a closed list.
pub trait Reason: Display {
    /// The word, in the CamelCase that conditions and events use.
    fn word(&self) -> &'static str;
}

/// Why a thing is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyCreate {
    /// It is wanted and does not exist.
    Missing,
    /// It existed at the wanted version and somebody removed it.
    Vanished,
}

/// Why a thing is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyUpdate {
    /// It was last written by another version of desired state.
    Outdated,
    /// It differs, and which version wrote it is not recorded.
    Differs(String),
    /// It is at the wanted version, and somebody else changed it.
    Drifted(String),
}

/// Why a thing is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyDelete {
    /// It is ours and no longer wanted.
    Unwanted,
    /// It is nobody's, not wanted, and the world is ours alone.
    Stray,
}

/// Why a thing may stay as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyKeep {
    /// It is as wanted.
    Current,
    /// It is at the wanted version, and the policy is not to look closer.
    DriftUnchecked,
    /// Somebody else changed it, and the policy is to say so and no more.
    DriftTolerated(String),
    /// It is not wanted, and it is another owner's.
    OfOther(String),
    /// It is not wanted, and nobody's.
    OfNobody,
    /// It is not wanted any more, and pruning is off.
    PruneOff,
    /// It is not wanted any more, and not for us to remove.
    Left,
}

/// Why a thing that is not as it should be is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyRefuse {
    /// It is wanted, and another owner has it.
    OwnedByOther(String),
    /// It is wanted, it exists, it is nobody's, and adopting is off.
    NotAdopted,
    /// Several things claim the key, and this is not the first of them.
    Duplicate,
    /// It is on its way out; there is nothing to do but wait.
    Leaving,
    /// It was created a moment ago and cannot be seen yet.
    Settling {
        /// From when on "not found" is believed.
        until: Timestamp,
    },
    /// It differs, but somebody else changes it again and again.
    Contended(Contention),
    /// It would be deleted, or created, but the view of the world is partial.
    PartialView(Arc<str>),
    /// It would be deleted, but the desired state is empty and nobody said that this is on
    /// purpose.
    EmptyDesired,
    /// It would be deleted, but it is protected.
    Protected,
    /// It would be deleted, but its guard asks for approval.
    NeedsApproval(String),
    /// It would be deleted, but so would too many others.
    Braked {
        /// How many deletes the plan holds back.
        deletes: usize,
        /// Of how many things that are ours.
        ours: usize,
    },
}

impl Reason for WhyCreate {
    fn word(&self) -> &'static str {
        match self {
            Self::Missing => "Missing",
            Self::Vanished => "Vanished",
        }
    }
}

impl Display for WhyCreate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "it does not exist",
            Self::Vanished => "somebody removed it",
        })
    }
}

impl Reason for WhyUpdate {
    fn word(&self) -> &'static str {
        match self {
            Self::Outdated => "Outdated",
            Self::Differs(_) => "Differs",
            Self::Drifted(_) => "Drifted",
        }
    }
}

impl Display for WhyUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outdated => f.write_str("another version of desired state wrote it"),
            Self::Differs(difference) => write!(f, "it differs: {difference}"),
            Self::Drifted(difference) => write!(f, "somebody changed it: {difference}"),
        }
    }
}

impl Reason for WhyDelete {
    fn word(&self) -> &'static str {
        match self {
            Self::Unwanted => "Unwanted",
            Self::Stray => "Stray",
        }
    }
}

impl Display for WhyDelete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unwanted => "it is no longer wanted",
            Self::Stray => "it is nobody's and the world is ours alone",
        })
    }
}

impl Reason for WhyKeep {
    fn word(&self) -> &'static str {
        match self {
            Self::Current => "Current",
            Self::DriftUnchecked => "DriftUnchecked",
            Self::DriftTolerated(_) => "DriftTolerated",
            Self::OfOther(_) => "OfOther",
            Self::OfNobody => "OfNobody",
            Self::PruneOff => "PruneOff",
            Self::Left => "Left",
        }
    }
}

impl Display for WhyKeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current => f.write_str("it is as wanted"),
            Self::DriftUnchecked => f.write_str("it is at the wanted version"),
            Self::DriftTolerated(difference) => write!(f, "somebody changed it: {difference}"),
            Self::OfOther(owner) => write!(f, "it belongs to {owner}"),
            Self::OfNobody => f.write_str("it is not ours"),
            Self::PruneOff => f.write_str("it is no longer wanted, but pruning is off"),
            Self::Left => f.write_str("it is no longer wanted, and others keep it"),
        }
    }
}

impl Reason for WhyRefuse {
    fn word(&self) -> &'static str {
        match self {
            Self::OwnedByOther(_) => "OwnedByOther",
            Self::NotAdopted => "NotAdopted",
            Self::Duplicate => "Duplicate",
            Self::Leaving => "Leaving",
            Self::Settling { .. } => "Settling",
            Self::Contended(_) => "Contended",
            Self::PartialView(_) => "PartialView",
            Self::EmptyDesired => "EmptyDesired",
            Self::Protected => "Protected",
            Self::NeedsApproval(_) => "NeedsApproval",
            Self::Braked { .. } => "Braked",
        }
    }
}

impl Display for WhyRefuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnedByOther(owner) => write!(f, "it belongs to {owner}"),
            Self::NotAdopted => f.write_str("it exists, is not ours, and adopting is off"),
            Self::Duplicate => f.write_str("several things claim this key; this is an extra one"),
            Self::Leaving => f.write_str("it is being deleted"),
            Self::Settling { until } => write!(f, "it may not be visible before {until}"),
            Self::Contended(contention) => contention.fmt(f),
            Self::PartialView(gaps) => write!(f, "not everything could be seen: {gaps}"),
            Self::EmptyDesired => {
                f.write_str("nothing at all is wanted, and nobody said that this is on purpose")
            }
            Self::Protected => f.write_str("it is protected from deletion"),
            Self::NeedsApproval(why) => write!(f, "its deletion needs approval: {why}"),
            Self::Braked { deletes, ours } => {
                write!(f, "deleting {deletes} of {ours} things needs approval")
            }
        }
    }
}
