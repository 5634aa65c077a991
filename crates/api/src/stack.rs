//! Stacks: named units of delivery.

use evenkeel_model::{GeneratorId, Name, StackId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A stack to be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewStack {
    /// Its name.
    pub name: Name,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whose it is, for ever.
    pub generator_id: GeneratorId,
}

/// What may change of a stack; what is absent stays. The last two fields may be sent back as they
/// are but not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StackUpdate {
    /// A new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// A new description; null removes it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::present"
    )]
    #[schema(value_type = Option<String>)]
    pub description: Option<Option<String>>,
    /// Which stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<StackId>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_id: Option<GeneratorId>,
}
