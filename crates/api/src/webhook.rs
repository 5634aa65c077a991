//! Webhooks: subscriptions and what became of their deliveries.

use evenkeel_model::{
    Delivery as StoredDelivery, DeliveryId, DeliveryStatus, EventPattern, FleetEvent, Name,
    Webhook as Stored, WebhookFilter, WebhookId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A subscription to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewWebhook {
    /// For people.
    pub name: Name,
    /// Where to send events; never shown again.
    pub url: String,
    /// The `Authorization` header to send; never shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_header: Option<String>,
    /// The secret to sign with; one is made up, and shown once, if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Which events: exact, `noun.*` or `*`.
    pub event_types: Vec<EventPattern>,
    /// About what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<WebhookFilter>,
    /// Must be empty: the broker itself delivers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_labels: Option<Vec<String>>,
    /// Whether anything is sent; yes, unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How often a delivery is tried again; 5 unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10)]
    pub max_retries: Option<i64>,
    /// How long one try may take; 30 unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 300)]
    pub timeout_seconds: Option<i64>,
}

/// What may change of a subscription; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WebhookUpdate {
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Where to send events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The `Authorization` header to send; null removes it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::present"
    )]
    #[schema(value_type = Option<String>)]
    pub auth_header: Option<Option<String>>,
    /// The secret to sign with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Which events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_types: Option<Vec<EventPattern>>,
    /// About what; null removes it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::present"
    )]
    #[schema(value_type = Option<WebhookFilter>)]
    pub filters: Option<Option<WebhookFilter>>,
    /// Must be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_labels: Option<Vec<String>>,
    /// Whether anything is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How often a delivery is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10)]
    pub max_retries: Option<i64>,
    /// How long one try may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 300)]
    pub timeout_seconds: Option<i64>,
}

/// A subscription, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Webhook {
    /// Which subscription.
    pub id: WebhookId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// For people.
    pub name: Name,
    /// Whether it has an address.
    pub has_url: bool,
    /// Whether an `Authorization` header is sent.
    pub has_auth_header: bool,
    /// Whether deliveries are signed.
    pub has_secret: bool,
    /// Which events.
    pub event_types: Vec<EventPattern>,
    /// About what.
    pub filters: WebhookFilter,
    /// Always empty.
    pub target_labels: Vec<String>,
    /// Whether anything is sent.
    pub enabled: bool,
    /// How often a delivery is tried again.
    pub max_retries: i64,
    /// How long one try may take.
    pub timeout_seconds: i64,
}

impl From<Stored> for Webhook {
    fn from(stored: Stored) -> Self {
        let settings = stored.settings;
        Self {
            id: stored.id,
            created_at: stored.created_at,
            updated_at: stored.updated_at,
            name: settings.name,
            has_url: !settings.sealed_url.is_empty(),
            has_auth_header: settings.sealed_auth_header.is_some(),
            has_secret: settings.sealed_secret.is_some(),
            event_types: settings.event_types,
            filters: settings.filter,
            target_labels: settings.target_labels,
            enabled: settings.enabled,
            max_retries: settings.max_retries,
            timeout_seconds: settings.timeout_seconds,
        }
    }
}

/// A subscription, with the secret that is shown this once if it was made up here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedWebhook {
    /// The subscription.
    #[serde(flatten)]
    pub webhook: Webhook,
    /// What deliveries are signed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// One event on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Delivery {
    /// Which delivery.
    pub id: DeliveryId,
    /// Whose.
    pub subscription_id: WebhookId,
    /// What happened.
    pub event_type: FleetEvent,
    /// The same for all deliveries of one event.
    pub event_id: Uuid,
    /// The envelope that is sent.
    #[schema(value_type = Object)]
    pub payload: serde_json::Value,
    /// What became of it.
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: i64,
    /// Not before.
    pub next_retry_at: Timestamp,
    /// What the receiver last answered.
    pub status_code: Option<i64>,
    /// What last went wrong.
    pub last_error: Option<String>,
    /// When it was queued.
    pub created_at: Timestamp,
    /// When it succeeded or was given up.
    pub completed_at: Option<Timestamp>,
}

impl From<StoredDelivery> for Delivery {
    fn from(stored: StoredDelivery) -> Self {
        Self {
            id: stored.id,
            subscription_id: stored.webhook_id,
            event_type: stored.event_type,
            event_id: stored.event_id,
            payload: stored.payload,
            status: stored.status,
            attempts: stored.attempts,
            next_retry_at: stored.next_attempt_at,
            status_code: stored.status_code,
            last_error: stored.last_error,
            created_at: stored.created_at,
            completed_at: stored.completed_at,
        }
    }
}
