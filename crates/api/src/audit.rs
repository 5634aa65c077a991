//! The audit log.

use evenkeel_model::{Action, ActorKind, AuditEntry, AuditId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditLine {
    /// Which line.
    pub id: AuditId,
    /// When.
    pub timestamp: Timestamp,
    /// What kind of actor.
    pub actor_type: ActorKind,
    /// Who.
    pub actor_id: Option<Uuid>,
    /// What.
    pub action: Action,
    /// On what kind of thing.
    pub resource_type: String,
    /// On which.
    pub resource_id: Option<Uuid>,
    /// The particulars.
    #[schema(value_type = Option<Object>)]
    pub details: Option<serde_json::Value>,
    /// From where.
    pub ip_address: Option<String>,
    /// With which program.
    pub user_agent: Option<String>,
    /// When.
    pub created_at: Timestamp,
}

impl From<AuditEntry> for AuditLine {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: entry.id,
            timestamp: entry.timestamp,
            actor_type: entry.actor.kind,
            actor_id: entry.actor.id,
            action: entry.action,
            resource_type: entry.resource_type,
            resource_id: entry.resource_id,
            details: entry.details,
            ip_address: entry.actor.ip_address,
            user_agent: entry.actor.user_agent,
            created_at: entry.timestamp,
        }
    }
}

/// A part of the audit log, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditPage {
    /// The lines.
    pub logs: Vec<AuditLine>,
    /// How many lines there are in all.
    pub total: u64,
    /// How many are here.
    pub count: usize,
    /// At most so many were asked for.
    pub limit: u32,
    /// So many were passed over.
    pub offset: u32,
}
