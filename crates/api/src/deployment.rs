//! Deployment objects and who is to have them.

use evenkeel_model::{
    AgentId, Checksum, DeploymentId, DeploymentObject as Stored, ObjectControl, ObjectKind,
    ObjectRef, SequenceId, StackId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A complete, immutable, numbered revision of a stack; or the order to remove it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeploymentObject {
    /// Which object.
    pub id: DeploymentId,
    /// When it was created.
    pub created_at: Timestamp,
    /// The same: it never changes.
    pub updated_at: Timestamp,
    /// Never set: it stays for ever.
    #[serde(default)]
    pub deleted_at: Option<Timestamp>,
    /// Its place in the one order of all objects.
    pub sequence_id: SequenceId,
    /// Its stack.
    pub stack_id: StackId,
    /// The manifests, exactly as submitted; absent when bodies were not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaml_content: Option<String>,
    /// Lower-case hexadecimal SHA-256 of the manifests.
    pub yaml_checksum: Checksum,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// Whether what the agent holds of the stack is to be removed.
    pub is_deletion_marker: bool,
    /// What it asks for: `release` removes the stack from this agent only.
    pub kind: ObjectKind,
    /// The stacks whose objects it may take over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub take_from: Vec<StackId>,
    /// What people ask for beside it; only in a target state.
    #[serde(default, skip_serializing_if = "ObjectControl::is_default")]
    pub control: ObjectControl,
}

impl DeploymentObject {
    /// The object with its text, or without.
    pub fn new(object: ObjectRef, yaml_content: Option<String>) -> Self {
        Self {
            id: object.id,
            created_at: object.submitted_at,
            updated_at: object.submitted_at,
            deleted_at: None,
            sequence_id: object.sequence_id,
            stack_id: object.stack_id,
            yaml_content,
            yaml_checksum: object.yaml_checksum,
            submitted_at: object.submitted_at,
            is_deletion_marker: object.kind.removes(),
            kind: object.kind,
            take_from: object.take_from,
            control: ObjectControl::default(),
        }
    }
}

impl From<Stored> for DeploymentObject {
    fn from(stored: Stored) -> Self {
        Self::new(stored.object, Some(stored.yaml_content))
    }
}

/// A revision to be submitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewDeployment {
    /// The manifests; empty for a deletion marker.
    #[serde(default)]
    pub yaml_content: String,
    /// Asks every agent to remove the stack's objects while the stack itself stays.
    #[serde(default)]
    pub is_deletion_marker: bool,
    /// The stacks of the same generator whose objects it may take over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub take_from: Vec<StackId>,
}

impl NewDeployment {
    /// A revision of these manifests.
    pub fn of(yaml_content: impl Into<String>) -> Self {
        Self {
            yaml_content: yaml_content.into(),
            ..Self::default()
        }
    }
}

/// An explicit tie to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewTarget {
    /// The agent; the one of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The stack.
    pub stack_id: StackId,
}
