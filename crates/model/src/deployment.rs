//! Deployment objects: immutable, complete, numbered revisions of a stack.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::word::words;
use crate::{Checksum, DeploymentId, SequenceId, StackId};

words! {
    /// What a deployment object asks for.
    ObjectKind as "deployment object kind" {
        /// Make the cluster look like this.
        Revision = "revision",
        /// Remove the stack from every cluster.
        Deletion = "deletion",
        /// Remove the stack from the clusters that it is no longer meant for. Never the newest
        /// revision of its stack: other agents go on with that.
        Release = "release",
    }
}

impl ObjectKind {
    /// Whether an agent that is served this removes what it holds of the stack.
    pub const fn removes(self) -> bool {
        matches!(self, Self::Deletion | Self::Release)
    }
}

/// One revision of a stack, with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeploymentObject {
    /// Everything but the text.
    #[serde(flatten)]
    pub object: ObjectRef,
    /// The manifests, exactly as submitted.
    pub yaml_content: String,
}

/// One revision of a stack, without its text, which is found by its checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectRef {
    /// Which object.
    pub id: DeploymentId,
    /// Its place in the one order of all objects.
    pub sequence_id: SequenceId,
    /// Its stack.
    pub stack_id: StackId,
    /// What it asks for.
    pub kind: ObjectKind,
    /// The checksum of its text.
    pub yaml_checksum: Checksum,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// The stacks whose objects it may take over.
    #[serde(default)]
    pub take_from: Vec<StackId>,
}

/// A revision to be submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRevision {
    /// The stack it is for.
    pub stack_id: StackId,
    /// The manifests; empty for a deletion marker.
    pub yaml_content: String,
    /// Asks every agent to remove the stack's objects while the stack itself stays.
    pub is_deletion_marker: bool,
    /// Refuse unless this is the stack's newest revision (`Some(None)`: unless it has none).
    pub if_newest: Option<Option<SequenceId>>,
    /// Submitting twice with the same key gives the same object.
    pub idempotency_key: Option<String>,
    /// The stacks of the same generator whose objects it may take over.
    pub take_from: Vec<StackId>,
}

impl NewRevision {
    /// A revision with no conditions.
    pub fn of(stack_id: StackId, yaml_content: impl Into<String>) -> Self {
        Self {
            stack_id,
            yaml_content: yaml_content.into(),
            is_deletion_marker: false,
            if_newest: None,
            idempotency_key: None,
            take_from: Vec::new(),
        }
    }
}
