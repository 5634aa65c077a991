//! Webhooks: who wants to be told what, and what became of telling them.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::word::words;
use crate::{AgentId, DeliveryId, Name, StackId, UnknownWord, WebhookId};

words! {
    /// What can be told.
    FleetEvent as "event type" {
        /// An agent was created.
        AgentRegistered = "agent.registered",
        /// An agent was deleted.
        AgentDeregistered = "agent.deregistered",
        /// A stack was created.
        StackCreated = "stack.created",
        /// A stack was deleted.
        StackDeleted = "stack.deleted",
        /// Agents were told to leave a stack alone.
        StackSuspended = "stack.suspended",
        /// Agents were told to go on with a stack.
        StackResumed = "stack.resumed",
        /// Agents were told to look at a stack anew.
        StackReconciled = "stack.reconciled",
        /// Removals that waited for somebody's word need not wait any more.
        StackApproved = "stack.approved",
        /// An agent waits for somebody's word before it removes objects.
        StackWaiting = "stack.waiting",
        /// An agent found that somebody changed what a stack declares.
        StackDrifted = "stack.drifted",
        /// A revision was submitted.
        DeploymentCreated = "deployment.created",
        /// An agent applied a revision.
        DeploymentApplied = "deployment.applied",
        /// An agent could not apply a revision.
        DeploymentFailed = "deployment.failed",
        /// A deletion marker was submitted.
        DeploymentDeleted = "deployment.deleted",
        /// A work order was created.
        WorkorderCreated = "workorder.created",
        /// A work order was claimed.
        WorkorderClaimed = "workorder.claimed",
        /// A work order was done.
        WorkorderCompleted = "workorder.completed",
        /// A work order failed.
        WorkorderFailed = "workorder.failed",
    }
}

/// Which events a webhook wants: one of them, all of one noun (`stack.*`), or all (`*`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[schema(value_type = String)]
#[serde(try_from = "String", into = "String")]
pub struct EventPattern(String);

impl EventPattern {
    /// Whether `event` is wanted.
    pub fn matches(&self, event: FleetEvent) -> bool {
        match self.0.strip_suffix('*') {
            Some(prefix) => event.as_str().starts_with(prefix),
            None => event.as_str() == self.0,
        }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for EventPattern {
    type Error = UnknownWord;

    fn try_from(text: String) -> Result<Self, UnknownWord> {
        let well_formed = !text.contains('*') || text == "*" || text.ends_with(".*");
        let pattern = Self(text);
        if well_formed && FleetEvent::ALL.iter().any(|&event| pattern.matches(event)) {
            Ok(pattern)
        } else {
            Err(UnknownWord {
                list: "event type or pattern",
                word: pattern.0,
            })
        }
    }
}

impl FromStr for EventPattern {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        Self::try_from(text.to_owned())
    }
}

impl From<EventPattern> for String {
    fn from(pattern: EventPattern) -> Self {
        pattern.0
    }
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Narrows a webhook to one agent, one stack, or both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookFilter {
    /// Only events about this agent.
    pub agent_id: Option<AgentId>,
    /// Only events about this stack.
    pub stack_id: Option<StackId>,
}

/// A subscription.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Which subscription.
    pub id: WebhookId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// What is wanted and how.
    pub settings: NewWebhook,
}

/// What is wanted and how; secrets are sealed by whoever stores them.
#[derive(Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// For people.
    pub name: Name,
    /// Where to, sealed.
    pub sealed_url: Vec<u8>,
    /// The `Authorization` header to send, sealed.
    pub sealed_auth_header: Option<Vec<u8>>,
    /// The signing secret, sealed.
    pub sealed_secret: Option<Vec<u8>>,
    /// Which events.
    pub event_types: Vec<EventPattern>,
    /// About what.
    pub filter: WebhookFilter,
    /// Labels an agent must have to deliver it; empty: the broker delivers.
    pub target_labels: Vec<String>,
    /// Whether anything is sent.
    pub enabled: bool,
    /// How often a delivery is tried again before it is dead.
    pub max_retries: i64,
    /// How long one try may take.
    pub timeout_seconds: i64,
}

impl NewWebhook {
    /// Whether an event about this agent and stack is wanted.
    pub fn wants(&self, event: FleetEvent, agent: Option<AgentId>, stack: Option<StackId>) -> bool {
        self.enabled
            && self
                .event_types
                .iter()
                .any(|pattern| pattern.matches(event))
            && self
                .filter
                .agent_id
                .is_none_or(|wanted| agent == Some(wanted))
            && self
                .filter
                .stack_id
                .is_none_or(|wanted| stack == Some(wanted))
    }
}

// Sealed or not, addresses and secrets have no place in a log.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("id", &self.id)
            .field("settings", &self.settings)
            .finish()
    }
}

impl fmt::Debug for NewWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewWebhook")
            .field("name", &self.name)
            .field("event_types", &self.event_types)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}

words! {
    /// What became of a delivery.
    DeliveryStatus as "delivery status" {
        /// Waiting for its turn, its retry or its lease to end.
        Pending = "pending",
        /// The receiver said yes.
        Success = "success",
        /// Given up; can be replayed.
        Dead = "dead",
    }
}

/// One event on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Which delivery.
    pub id: DeliveryId,
    /// Its place in the order of its subscription.
    pub position: i64,
    /// Whose.
    pub webhook_id: WebhookId,
    /// What happened.
    pub event_type: FleetEvent,
    /// The same for all deliveries of one event.
    pub event_id: Uuid,
    /// The envelope to send.
    pub payload: serde_json::Value,
    /// What became of it.
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: i64,
    /// Not before.
    pub next_attempt_at: Timestamp,
    /// Who is sending it.
    pub leased_by: Option<String>,
    /// Until when nobody else may.
    pub leased_until: Option<Timestamp>,
    /// What the receiver last answered.
    pub status_code: Option<i64>,
    /// What last went wrong.
    pub last_error: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it succeeded or was given up.
    pub completed_at: Option<Timestamp>,
}

/// How one try ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// The receiver said yes.
    Delivered {
        /// With this status.
        status_code: i64,
    },
    /// It did not work; try again then.
    Retry {
        /// What the receiver answered, if it did.
        status_code: Option<i64>,
        /// What went wrong.
        error: String,
        /// Not before.
        at: Timestamp,
    },
    /// It will not work.
    GiveUp {
        /// What the receiver answered, if it did.
        status_code: Option<i64>,
        /// What went wrong.
        error: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_exact_or_end_in_a_star() {
        let all: EventPattern = "*".parse().unwrap();
        let stacks: EventPattern = "stack.*".parse().unwrap();
        let one: EventPattern = "stack.deleted".parse().unwrap();
        assert!(FleetEvent::ALL.iter().all(|&event| all.matches(event)));
        assert!(stacks.matches(FleetEvent::StackCreated));
        assert!(!stacks.matches(FleetEvent::AgentRegistered));
        assert!(one.matches(FleetEvent::StackDeleted) && !one.matches(FleetEvent::StackCreated));
    }

    #[test]
    fn a_pattern_that_can_never_match_is_refused() {
        for text in ["", "stack", "st*", "stack.exploded", "*.created", "moon.*"] {
            assert!(text.parse::<EventPattern>().is_err(), "{text}");
        }
    }
}
