//! Control of a stack: what people ask for beyond its revisions. It is a level, not an event: an
//! agent that slept sees what holds now.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Actor, DriftMode, ReconcileToken, SequenceId};

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlRequest {
    /// Leave the stack alone.
    Suspend,
    /// Go on with it.
    Resume,
    /// Look at all of it anew.
    Reconcile,
    /// Let removals go on that wait for somebody's word: this object's, or those of the newest
    /// on which an agent waits.
    Approve(Option<SequenceId>),
    /// Do this about what others change, or what each agent does of its own accord.
    Drift(Option<DriftMode>),
}

/// What people ask for of a stack beyond its revisions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Control {
    /// Whether agents leave the stack alone: nothing applied, pruned or repaired.
    pub suspended: bool,
    /// Who asked for that, while it holds.
    pub suspended_by: Option<String>,
    /// When, while it holds.
    pub suspended_at: Option<Timestamp>,
    /// Grows with every request to look at the whole stack anew.
    pub reconcile_token: ReconcileToken,
    /// The object whose removals need not wait any more.
    pub approved_sequence: Option<SequenceId>,
    /// What agents do about drift; each what its own settings say, if this says nothing.
    pub drift: Option<DriftMode>,
}

impl Control {
    /// The same, suspended; who was first stays.
    #[must_use]
    pub fn suspend(self, by: &Actor, at: Timestamp) -> Self {
        if self.suspended {
            return self;
        }
        Self {
            suspended: true,
            suspended_by: Some(by.to_string()),
            suspended_at: Some(at),
            ..self
        }
    }

    /// The same, no longer suspended.
    #[must_use]
    pub fn resume(self) -> Self {
        Self {
            suspended: false,
            suspended_by: None,
            suspended_at: None,
            ..self
        }
    }

    /// The same with one more request to look anew.
    #[must_use]
    pub fn reconcile(self) -> Self {
        Self {
            reconcile_token: self.reconcile_token.next(),
            ..self
        }
    }

    /// The same with this object's removals approved.
    #[must_use]
    pub fn approve(self, sequence: SequenceId) -> Self {
        Self {
            approved_sequence: Some(sequence),
            ..self
        }
    }

    /// The same with another answer to drift.
    #[must_use]
    pub fn about_drift(self, drift: Option<DriftMode>) -> Self {
        Self { drift, ..self }
    }

    /// What an agent needs to know of it about one object.
    pub fn of(&self, sequence: SequenceId) -> ObjectControl {
        ObjectControl {
            suspended: self.suspended,
            reconcile_token: self.reconcile_token,
            approved: self.approved_sequence == Some(sequence),
            drift: self.drift,
        }
    }
}

/// What an agent is told beside a deployment object. What is absent is its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ObjectControl {
    /// Whether to leave the stack alone: nothing applied, pruned or repaired.
    pub suspended: bool,
    /// Larger than the last one served: look at the whole stack anew.
    pub reconcile_token: ReconcileToken,
    /// Whether this object's removals need not wait.
    pub approved: bool,
    /// What to do about drift, if not what the agent's own settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftMode>,
}

impl ObjectControl {
    /// Whether nothing is asked for.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
