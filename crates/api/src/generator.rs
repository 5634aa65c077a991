//! Generators: the tenants.

use evenkeel_model::{AgentId, Generator, GeneratorId, Name};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A generator to be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewGenerator {
    /// Its name.
    pub name: Name,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A generator, with the key that is shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedGenerator {
    /// The generator.
    pub generator: Generator,
    /// Its key.
    pub pak: String,
}

/// What may change of a generator; what is absent stays. The last two fields may be sent back as
/// they are but not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GeneratorUpdate {
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
    /// Whether it may write; for administrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
    /// Which generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<GeneratorId>,
    /// Whether it belongs to the broker itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_system: Option<bool>,
}

/// An agent's consent to a generator. An agent speaks for itself and may leave the body empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewRegistration {
    /// Who agrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
}
