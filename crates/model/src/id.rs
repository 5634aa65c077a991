//! Typed identifiers: an agent's id cannot be passed where a stack's is meant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Deserialize, ToSchema)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

ids! {
    /// Names a generator (a tenant).
    GeneratorId,
    /// Names an agent.
    AgentId,
    /// Names the consent of an agent to a generator.
    RegistrationId,
    /// Names a stack.
    StackId,
    /// Names a deployment object.
    DeploymentId,
    /// Names an explicit target.
    TargetId,
    /// Names an event that an agent reported.
    EventId,
    /// Names a webhook subscription.
    WebhookId,
    /// Names one delivery of a webhook.
    DeliveryId,
    /// Names a line of the audit log.
    AuditId,
    /// Names an API key (never the key itself).
    KeyId,
    /// Names a question about what a revision would change.
    DiffId,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Deserialize, ToSchema)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl $name {
            /// The number that follows.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

numbers! {
    /// The place of a deployment object in the one order of all of them. It only grows, without
    /// holes, and becomes visible in order.
    SequenceId,
    /// The place of a change in the one order of all changes. Dense, so that a reader who has
    /// seen 41 and is shown 43 knows that it has missed something.
    ChangeNumber,
    /// How often it was asked to look at a stack anew.
    ReconcileToken,
}
