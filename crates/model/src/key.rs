//! API keys, of which only hashes are kept.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{AgentId, Checksum, GeneratorId, KeyId};

/// The SHA-256 of a key's secret part. The secret has 192 random bits, so no salt is needed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyHash(pub Checksum);

impl KeyHash {
    /// The hash of `secret`.
    pub fn of(secret: &str) -> Self {
        Self(Checksum::of(secret))
    }
}

/// What the bearer of a key may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "role", content = "id", rename_all = "snake_case")]
pub enum Role {
    /// May do everything.
    Admin,
    /// May read everything.
    Readonly,
    /// Is this agent.
    Agent(AgentId),
    /// Is this generator.
    Generator(GeneratorId),
}

/// A key, as far as anybody may know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Which key.
    pub id: KeyId,
    /// What its bearer may be.
    pub role: Role,
    /// The hash of its secret.
    #[serde(skip_serializing)]
    pub hash: KeyHash,
    /// The public part of the key, by which people recognise it.
    pub short_token: String,
    /// For people.
    pub description: Option<String>,
    /// When it was minted.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether the key opens anything at `now`.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// What is kept of a freshly minted secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyMaterial {
    /// The hash of the secret.
    pub hash: KeyHash,
    /// The public part of the key.
    pub short_token: String,
}

/// A key to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// What its bearer may be.
    pub role: Role,
    /// What is kept of the secret.
    pub material: KeyMaterial,
    /// For people.
    pub description: Option<String>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
}

impl NewKey {
    /// A key for `role` that does not end by itself.
    pub const fn lasting(role: Role, material: KeyMaterial) -> Self {
        Self {
            role,
            material,
            description: None,
            expires_at: None,
        }
    }
}
