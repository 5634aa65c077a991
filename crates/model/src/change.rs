//! Changes: what brokers tell each other so that their caches agree.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AgentId, ChangeNumber, GeneratorId, KeyId, StackId, WebhookId};

/// What changed. It says where to look again, not what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "noun", rename_all = "snake_case")]
pub enum Subject {
    /// A generator.
    Generator {
        /// Which.
        id: GeneratorId,
    },
    /// An agent: itself, its labels, annotations, registrations or any of its assignments.
    Agent {
        /// Which.
        id: AgentId,
    },
    /// A stack: itself, its labels, annotations, newest revision or any of its assignments.
    Stack {
        /// Which.
        id: StackId,
    },
    /// One assignment: what the agent is to do with the stack, or what it said about it.
    Assignment {
        /// The agent.
        agent_id: AgentId,
        /// The stack.
        stack_id: StackId,
    },
    /// A key: minted or revoked.
    Key {
        /// Which.
        id: KeyId,
    },
    /// A webhook subscription.
    Webhook {
        /// Which.
        id: WebhookId,
    },
}

/// One committed change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its place in the one order of all changes; there are no holes.
    pub number: ChangeNumber,
    /// When it was made.
    pub at: Timestamp,
    /// What changed.
    #[serde(flatten)]
    pub subject: Subject,
}
