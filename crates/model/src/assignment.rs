//! Assignments: for every agent, each stack that it holds or may hold, what it has been told to
//! do with it, and what it said it did.
//!
//! An assignment begins when a target, label or annotation ties the two together and ends only
//! when the agent has *confirmed* that the stack is gone. In between it is never absent, so
//! absence is never an order.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::word::words;
use crate::{
    AgentId, Control, DriftRecord, HealthStatus, ObjectControl, ObjectHealth, ObjectRef,
    SequenceId, StackId,
};

words! {
    /// What an agent has been told to do with a stack.
    Order as "order" {
        /// Keep it at its newest revision.
        Serve = "serve",
        /// Remove it: it is no longer meant for this agent.
        Release = "release",
        /// Remove it: it was deleted.
        Delete = "delete",
    }
}

words! {
    /// How far an agent has come with its order.
    Phase as "phase" {
        /// The stack has no revision yet.
        Empty = "empty",
        /// The agent has not yet reported on what is wanted now.
        Pending = "pending",
        /// The agent reported that it did what is wanted now.
        Applied = "applied",
        /// The agent reported that it could not; it tries again.
        Failed = "failed",
    }
}

/// What an agent is to do with one stack, and what it said about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The agent.
    pub agent_id: AgentId,
    /// The stack.
    pub stack_id: StackId,
    /// What it is to do.
    pub order: Order,
    /// Since when.
    pub ordered_at: Timestamp,
    /// What to serve: the newest revision, the deletion marker or the release tombstone.
    pub wanted: Option<ObjectRef>,
    /// What people ask for of the stack beyond that.
    pub control: Control,
    /// Grows with every question that the agent is asked about the stack; never the same twice.
    pub asked: i64,
    /// What the agent reported.
    pub observed: Observed,
}

/// An assignment with the particulars that memory does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStackStatus {
    /// What the agent is to do and said about it.
    pub assignment: Assignment,
    /// How each object of what is wanted is doing.
    pub objects: Vec<ObjectHealth>,
    /// What others last changed, newest first.
    pub drift_records: Vec<DriftRecord>,
}

/// What an agent reported of one stack. Kept apart from the events, so that forgetting old events
/// changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The newest object that it reported as done.
    pub applied: Option<SequenceId>,
    /// The object that it last tried.
    pub attempted: Option<SequenceId>,
    /// How often it has tried that object without success.
    pub attempts: i64,
    /// Why the last try failed; gone after a success.
    pub last_error: Option<String>,
    /// When it last reported a try.
    pub reported_at: Option<Timestamp>,
    /// The health of what it applied.
    pub health: Option<HealthStatus>,
    /// What differs in the cluster from what was applied, if something does.
    pub drift: Option<String>,
    /// What the agent waits for, if it waits.
    pub waiting: Option<String>,
}

impl Assignment {
    /// The sequence id of what is wanted.
    pub fn desired(&self) -> Option<SequenceId> {
        self.wanted.as_ref().map(|object| object.sequence_id)
    }

    /// What the agent is told beside what is wanted.
    pub fn served_control(&self) -> ObjectControl {
        self.desired()
            .map(|sequence| self.control.of(sequence))
            .unwrap_or_default()
    }

    /// How far the agent has come. Derived, so that it cannot disagree with the facts.
    pub fn phase(&self) -> Phase {
        let Some(desired) = self.desired() else {
            return Phase::Empty;
        };
        // The last word counts: what was done once may have failed since, and is tried again.
        if self.observed.attempted == Some(desired) && self.observed.last_error.is_some() {
            Phase::Failed
        } else if self.observed.applied == Some(desired) {
            Phase::Applied
        } else {
            Phase::Pending
        }
    }

    /// Since when the phase is what it is.
    pub fn since(&self) -> Timestamp {
        let reported = self
            .observed
            .reported_at
            .filter(|_| self.reported_on_wanted());
        let wanted = self.wanted.as_ref().map(|object| object.submitted_at);
        reported.unwrap_or_else(|| wanted.map_or(self.ordered_at, |at| at.max(self.ordered_at)))
    }

    fn reported_on_wanted(&self) -> bool {
        matches!(self.phase(), Phase::Applied | Phase::Failed)
    }
}
