//! Generators: the tenants, each the owner of stacks.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{GeneratorId, Name};

/// A tenant that writes stacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Generator {
    /// Who it is.
    pub id: GeneratorId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
    /// Unique among the generators that are not deleted.
    pub name: Name,
    /// For people.
    pub description: Option<String>,
    /// When its key was last used.
    pub last_active_at: Option<Timestamp>,
    /// Whether it may write.
    pub is_active: bool,
    /// Belongs to the broker itself; set at creation, never changed, never deleted.
    pub is_system: bool,
}

/// What is needed to create a generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGenerator {
    /// Its name.
    pub name: Name,
    /// For people.
    pub description: Option<String>,
    /// Whether it belongs to the broker itself.
    pub is_system: bool,
}

/// All that may change of a generator. `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneratorUpdate {
    /// A new name.
    pub name: Option<Name>,
    /// A new description; `Some(None)` removes it.
    pub description: Option<Option<String>>,
    /// Whether it may write.
    pub is_active: Option<bool>,
}
