//! What travels over the wire: requests and answers of the public API.
//!
//! Where a noun of the fleet says of itself all that others may know, it *is* the answer and is
//! re-exported from the model; the types written here are those that differ. Every request type
//! lists exactly the fields that a caller may set, so what is not a field cannot be changed.
//!
//! ```text
//! client ── NewStack ──▶ broker ── Stack ──▶ client          errors: ErrorBody, always
//! ```
//!
//! Read [`error`] first, then [`deployment`] and [`status`]; the rest follow one pattern.

pub mod agent;
pub mod audit;
pub mod control;
pub mod deployment;
pub mod diff;
pub mod drift;
pub mod error;
pub mod event;
pub mod fleet;
pub mod generator;
pub mod health;
pub mod key;
pub mod page;
pub mod stack;
pub mod status;
pub mod tag;
pub mod task;
pub mod webhook;

pub use agent::{AgentUpdate, CreatedAgent, Heartbeat, NewAgent, RotatedAgent};
pub use audit::{AuditLine, AuditPage};
pub use control::{Approval, DriftChoice};
pub use deployment::{DeploymentObject, NewDeployment, NewTarget};
pub use diff::{DiffTicket, INBOX, NewDiff};
pub use drift::DriftQuery;
pub use error::ErrorBody;
pub use evenkeel_model::{
    Agent, AgentDiff, Control, Diff, DiffAnswer, DriftRecord, FoundDrift, Generator, ObjectChange,
    ObjectControl, ObjectDiff, ObjectHealth, ObjectKey, PendingDiff, Registration, Stack, Target,
};
pub use event::{AgentEvent, NewEvent};
pub use fleet::{AgentFleetStatus, FleetAgentRecord};
pub use generator::{CreatedGenerator, GeneratorUpdate, NewGenerator, NewRegistration};
pub use health::{
    AgentHealth, DeploymentHealthSummary, HealthReport, ReportedHealth, RevisionHealth, StackHealth,
};
pub use key::{Bearer, Key, KeyRole, MintedKey, NewKey, PakOwner};
pub use page::{ListQuery, NEXT_CURSOR};
pub use stack::{NewStack, StackUpdate};
pub use status::AssignmentStatus;
pub use tag::{
    AgentAnnotation, AgentLabel, NewAgentAnnotation, NewAgentLabel, NewStackAnnotation,
    StackAnnotation, StackLabel,
};
pub use task::TaskStatus;
pub use webhook::{CreatedWebhook, Delivery, NewWebhook, Webhook, WebhookUpdate};

/// Reads a field that may be absent (leave it), null (remove it) or set.
pub(crate) fn present<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: serde::Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    serde::Deserialize::deserialize(deserializer).map(Some)
}
