//! Stacks: named units of delivery, each owned by one generator for ever.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Control, GeneratorId, Name, SequenceId, StackId};

/// A named unit of delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stack {
    /// Which stack.
    pub id: StackId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed (a new revision is no change of the stack).
    pub updated_at: Timestamp,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
    /// Unique among its generator's stacks that are not deleted.
    pub name: Name,
    /// For people.
    pub description: Option<String>,
    /// Whose it is.
    pub generator_id: GeneratorId,
    /// Its newest revision, once it has one.
    #[serde(default)]
    pub newest_sequence_id: Option<SequenceId>,
    /// What people ask for beyond its revisions.
    #[serde(default)]
    pub control: Control,
}

/// What is needed to create a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStack {
    /// Its name.
    pub name: Name,
    /// For people.
    pub description: Option<String>,
    /// Whose it will be.
    pub generator_id: GeneratorId,
}

/// All that may change of a stack; its owner is not among it. `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackUpdate {
    /// A new name.
    pub name: Option<Name>,
    /// A new description; `Some(None)` removes it.
    pub description: Option<Option<String>>,
}
