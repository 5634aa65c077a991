//! The nouns of the fleet: what they are called, what may be said of them, and nothing else.
//!
//! Every value here is parsed once, at the edge, and correct ever after: ids are typed, names and
//! labels are checked, states are closed lists. No I/O, no clock, no database; everything
//! serialises.
//!
//! ```text
//! generator ─owns─▶ stack ─has─▶ deployment object (1, 2, 3 …)
//!     ▲ registration                    │ served to
//!   agent ◀───────── assignment ◀───────┘      (because of a target, a label or an annotation)
//! ```
//!
//! Read [`id`] and [`name`] first, then [`stack`], [`deployment`] and [`assignment`]: they hold
//! the idea. The rest are leaves.

pub mod agent;
pub mod assignment;
pub mod audit;
pub mod change;
pub mod checksum;
pub mod control;
pub mod deployment;
pub mod diff;
pub mod drift;
pub mod event;
pub mod generator;
pub mod health;
pub mod id;
pub mod key;
pub mod lease;
pub mod name;
pub mod object;
pub mod page;
pub mod stack;
pub mod target;
pub mod webhook;
mod word;

pub use agent::{Agent, AgentStatus, AgentUpdate, Heartbeat, NewAgent, Registration};
pub use assignment::{AgentStackStatus, Assignment, Observed, Order, Phase};
pub use audit::{Action, Actor, ActorKind, AuditEntry};
pub use change::{Change, Subject};
pub use checksum::Checksum;
pub use control::{Control, ControlRequest, ObjectControl};
pub use deployment::{DeploymentObject, NewRevision, ObjectKind, ObjectRef};
pub use diff::{AgentDiff, Diff, DiffAnswer, DiffChange, ObjectDiff, PendingDiff};
pub use drift::{DriftMode, DriftRecord, FoundDrift};
pub use event::{AgentEvent, ChangeCounts, EventStatus, NewEvent};
pub use generator::{Generator, GeneratorUpdate, NewGenerator};
pub use health::{DeploymentHealth, HealthStatus, Report};
pub use id::{
    AgentId, AuditId, ChangeNumber, DeliveryId, DeploymentId, DiffId, EventId, GeneratorId, KeyId,
    ReconcileToken, RegistrationId, SequenceId, StackId, TargetId, WebhookId,
};
pub use key::{ApiKey, KeyHash, KeyMaterial, NewKey, Role};
pub use lease::Lease;
pub use name::{Annotation, AnnotationKey, AnnotationValue, InvalidName, Label, Name};
pub use object::{ObjectAction, ObjectChange, ObjectHealth, ObjectKey};
pub use page::{Cursor, Page, Paging};
pub use stack::{NewStack, Stack, StackUpdate};
pub use target::Target;
pub use webhook::{
    Attempt, Delivery, DeliveryStatus, EventPattern, FleetEvent, NewWebhook, Webhook, WebhookFilter,
};
pub use word::UnknownWord;
