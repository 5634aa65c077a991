//! Keys: who somebody is, and keys for people.

use evenkeel_model::{AgentId, ApiKey, GeneratorId, KeyId, Name, Role};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who the bearer of a key is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bearer {
    /// May do everything.
    pub admin: bool,
    /// Is this agent.
    pub agent: Option<AgentId>,
    /// Is this generator.
    pub generator: Option<GeneratorId>,
    /// May read everything.
    pub readonly: bool,
}

impl From<Role> for Bearer {
    fn from(role: Role) -> Self {
        let nobody = Self::default();
        match role {
            Role::Admin => Self {
                admin: true,
                ..nobody
            },
            Role::Readonly => Self {
                readonly: true,
                ..nobody
            },
            Role::Agent(id) => Self {
                agent: Some(id),
                ..nobody
            },
            Role::Generator(id) => Self {
                generator: Some(id),
                ..nobody
            },
        }
    }
}

/// Somebody who writes with a key of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PakOwner {
    /// The generator.
    pub id: GeneratorId,
    /// Its name.
    pub name: Name,
}

/// What a key for people may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyRole {
    /// Everything.
    Admin,
    /// Everything, to read.
    Readonly,
}

/// A key for a person to be minted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewKey {
    /// What it opens.
    pub role: KeyRole,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A key, as far as anybody may know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Key {
    /// Which key.
    pub id: KeyId,
    /// What its bearer may be.
    pub bearer: Bearer,
    /// The public part, by which people recognise it.
    pub short_token: String,
    /// For people.
    pub description: Option<String>,
    /// When it was minted.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
}

impl From<ApiKey> for Key {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id,
            bearer: key.role.into(),
            short_token: key.short_token,
            description: key.description,
            created_at: key.created_at,
            expires_at: key.expires_at,
        }
    }
}

/// A key, with the secret that is shown this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MintedKey {
    /// The key.
    pub key: Key,
    /// The secret.
    pub pak: String,
}
