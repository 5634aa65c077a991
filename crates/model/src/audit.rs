//! The audit log: who did what, on what, from where.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::word::words;
use crate::{AgentId, AuditId, FleetEvent, GeneratorId, Role};

words! {
    /// What somebody is.
    ActorKind as "kind of actor" {
        /// An administrator.
        Admin = "admin",
        /// An agent.
        Agent = "agent",
        /// A generator.
        Generator = "generator",
        /// The broker itself.
        System = "system",
        /// Nobody who could prove who they are.
        Anonymous = "anonymous",
    }
}

/// Who does something, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// What they are.
    pub kind: ActorKind,
    /// Who they are: the id of the agent, the generator or the administrator's key.
    pub id: Option<Uuid>,
    /// The address they come from.
    pub ip_address: Option<String>,
    /// The program they use.
    pub user_agent: Option<String>,
}

impl Actor {
    /// The broker itself.
    pub const SYSTEM: Self = Self::of(ActorKind::System, None);

    /// Somebody, from nowhere in particular.
    pub const fn of(kind: ActorKind, id: Option<Uuid>) -> Self {
        Self {
            kind,
            id,
            ip_address: None,
            user_agent: None,
        }
    }

    /// An agent.
    pub const fn agent(id: AgentId) -> Self {
        Self::of(ActorKind::Agent, Some(id.0))
    }

    /// A generator.
    pub const fn generator(id: GeneratorId) -> Self {
        Self::of(ActorKind::Generator, Some(id.0))
    }

    /// The bearer of a key with this role.
    pub const fn bearer(role: Role) -> Self {
        match role {
            Role::Admin | Role::Readonly => Self::of(ActorKind::Admin, None),
            Role::Agent(id) => Self::agent(id),
            Role::Generator(id) => Self::generator(id),
        }
    }
}

impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.id {
            Some(id) => write!(f, "{}:{id}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

words! {
    /// What was done.
    Action as "action" {
        /// A key did not open anything.
        AuthFailed = "auth.failed",
        /// A key was minted.
        KeyCreated = "pak.created",
        /// A key was replaced.
        KeyRotated = "pak.rotated",
        /// A key was revoked.
        KeyDeleted = "pak.deleted",
        /// A generator was created.
        GeneratorCreated = "generator.created",
        /// A generator was changed.
        GeneratorUpdated = "generator.updated",
        /// A generator was deleted.
        GeneratorDeleted = "generator.deleted",
        /// An agent was created.
        AgentCreated = "agent.created",
        /// An agent was changed.
        AgentUpdated = "agent.updated",
        /// An agent was deleted.
        AgentDeleted = "agent.deleted",
        /// A label or annotation was put on an agent.
        AgentTagged = "agent.tagged",
        /// A label or annotation was taken from an agent.
        AgentUntagged = "agent.untagged",
        /// An agent agreed to serve a generator.
        AgentRegistered = "agent.registered",
        /// An agent no longer serves a generator.
        AgentDeregistered = "agent.deregistered",
        /// A stack was created.
        StackCreated = "stack.created",
        /// A stack was changed.
        StackUpdated = "stack.updated",
        /// A stack was deleted.
        StackDeleted = "stack.deleted",
        /// A label or annotation was put on a stack.
        StackTagged = "stack.tagged",
        /// A label or annotation was taken from a stack.
        StackUntagged = "stack.untagged",
        /// Agents were told to leave a stack alone.
        StackSuspended = "stack.suspended",
        /// Agents were told to go on with a stack.
        StackResumed = "stack.resumed",
        /// Agents were told to look at a stack anew.
        StackReconciled = "stack.reconciled",
        /// Removals that waited for somebody's word need not wait any more.
        StackApproved = "stack.approved",
        /// Agents were told what to do about drift of a stack.
        StackDriftSet = "stack.drift_set",
        /// It was asked what a revision would change.
        DiffRequested = "diff.requested",
        /// A revision was submitted.
        DeploymentCreated = "deployment.created",
        /// A deletion marker was submitted.
        DeploymentDeleted = "deployment.deleted",
        /// A target was added.
        TargetCreated = "target.created",
        /// A target was removed.
        TargetDeleted = "target.deleted",
        /// A webhook was created.
        WebhookCreated = "webhook.created",
        /// A webhook was changed.
        WebhookUpdated = "webhook.updated",
        /// A webhook was deleted.
        WebhookDeleted = "webhook.deleted",
        /// A webhook was sent something to try it.
        WebhookTested = "webhook.tested",
        /// A delivery was queued once more.
        DeliveryReplayed = "delivery.replayed",
        /// The configuration was read again.
        ConfigReloaded = "config.reloaded",
    }
}

impl Action {
    /// What webhooks are told of it, if anything.
    pub const fn fleet_event(self) -> Option<FleetEvent> {
        Some(match self {
            Self::AgentCreated => FleetEvent::AgentRegistered,
            Self::AgentDeleted => FleetEvent::AgentDeregistered,
            Self::StackCreated => FleetEvent::StackCreated,
            Self::StackDeleted => FleetEvent::StackDeleted,
            Self::StackSuspended => FleetEvent::StackSuspended,
            Self::StackResumed => FleetEvent::StackResumed,
            Self::StackReconciled => FleetEvent::StackReconciled,
            Self::StackApproved => FleetEvent::StackApproved,
            Self::DeploymentCreated => FleetEvent::DeploymentCreated,
            Self::DeploymentDeleted => FleetEvent::DeploymentDeleted,
            _ => return None,
        })
    }

    /// The noun that was acted on: the part before the dot.
    pub fn noun(self) -> &'static str {
        self.as_str().split('.').next().unwrap_or_default()
    }
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Which line.
    pub id: AuditId,
    /// When.
    pub timestamp: Timestamp,
    /// Who, and from where.
    #[serde(flatten)]
    pub actor: Actor,
    /// What.
    pub action: Action,
    /// On what kind of thing.
    pub resource_type: String,
    /// On which.
    pub resource_id: Option<Uuid>,
    /// The particulars; never a secret.
    pub details: Option<serde_json::Value>,
}
