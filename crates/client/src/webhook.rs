//! Webhooks.

use evenkeel_api::{CreatedWebhook, Delivery, ListQuery, NewWebhook, Webhook, WebhookUpdate};
use evenkeel_model::{DeliveryId, FleetEvent, Page, WebhookId};

use crate::{Client, Result};

impl Client {
    /// The subscriptions.
    pub async fn webhook_list(&self, query: &ListQuery) -> Result<Page<Webhook>> {
        self.list(&["webhooks"], query).await
    }

    /// Subscribes.
    pub async fn webhook_create(&self, new: &NewWebhook) -> Result<CreatedWebhook> {
        self.post(&["webhooks"], new).await
    }

    /// What can be subscribed to.
    pub async fn webhook_event_types(&self) -> Result<Vec<FleetEvent>> {
        self.get(&["webhooks", "event-types"]).await
    }

    /// One subscription.
    pub async fn webhook_get(&self, id: WebhookId) -> Result<Webhook> {
        self.get(&["webhooks", &id.to_string()]).await
    }

    /// Changes a subscription.
    pub async fn webhook_update(&self, id: WebhookId, update: &WebhookUpdate) -> Result<Webhook> {
        self.put(&["webhooks", &id.to_string()], update).await
    }

    /// Ends a subscription.
    pub async fn webhook_delete(&self, id: WebhookId) -> Result<()> {
        self.delete(&["webhooks", &id.to_string()]).await
    }

    /// Sends an event to this subscription only.
    pub async fn webhook_test(&self, id: WebhookId) -> Result<Delivery> {
        self.post(&["webhooks", &id.to_string(), "test"], &()).await
    }

    /// What became of the subscription's deliveries, newest first.
    pub async fn delivery_list(&self, id: WebhookId, query: &ListQuery) -> Result<Page<Delivery>> {
        self.list(&["webhooks", &id.to_string(), "deliveries"], query)
            .await
    }

    /// Sends a delivery again.
    pub async fn delivery_replay(&self, id: DeliveryId) -> Result<Delivery> {
        self.post(&["webhook-deliveries", &id.to_string(), "replay"], &())
            .await
    }
}
