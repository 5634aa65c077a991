//! Webhooks: who wants to be told what.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, AgentId, DeliveryId, FleetEvent, NewWebhook, Page, Paging, StackId, Subject,
    Webhook, WebhookId,
};
use futures::FutureExt;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::Database;
use crate::fact::Fact;
use crate::page::{self, From};
use crate::sql::{Query, Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// Who wants to be told what. Addresses and secrets arrive sealed.
#[async_trait]
pub trait Webhooks {
    /// Creates a subscription.
    async fn webhook_create(&self, by: &Actor, new: NewWebhook) -> Result<Webhook>;

    /// One subscription.
    async fn webhook_get(&self, id: WebhookId) -> Result<Option<Webhook>>;

    /// The subscriptions, oldest first.
    async fn webhook_list(&self, paging: Paging) -> Result<Page<Webhook>>;

    /// Replaces what is wanted and how.
    async fn webhook_update(
        &self,
        by: &Actor,
        id: WebhookId,
        settings: NewWebhook,
    ) -> Result<Webhook>;

    /// Deletes a subscription with its deliveries.
    async fn webhook_delete(&self, by: &Actor, id: WebhookId) -> Result<()>;
}

#[async_trait]
impl Webhooks for Database {
    async fn webhook_create(&self, by: &Actor, new: NewWebhook) -> Result<Webhook> {
        let by = by.clone();
        self.write(move |tx| async move { create(tx, &by, new).await }.boxed())
            .await
    }

    async fn webhook_get(&self, id: WebhookId) -> Result<Option<Webhook>> {
        self.one(
            sql("SELECT * FROM webhooks WHERE id = $1").bind(&id),
            webhook,
        )
        .await
    }

    async fn webhook_list(&self, paging: Paging) -> Result<Page<Webhook>> {
        let query = sql("SELECT * FROM webhooks WHERE position > $1 ORDER BY position LIMIT $2");
        let query = page::bind(query, paging, From::Oldest);
        self.page(query, paging, "position", webhook).await
    }

    async fn webhook_update(
        &self,
        by: &Actor,
        id: WebhookId,
        settings: NewWebhook,
    ) -> Result<Webhook> {
        let by = by.clone();
        self.write(move |tx| async move { change(tx, &by, id, settings).await }.boxed())
            .await
    }

    async fn webhook_delete(&self, by: &Actor, id: WebhookId) -> Result<()> {
        let by = by.clone();
        self.write(move |tx| async move { delete(tx, &by, id).await }.boxed())
            .await
    }
}

/// The subscription, which must exist.
pub(super) async fn require(tx: &mut Transaction, id: WebhookId) -> Result<Webhook> {
    let query = sql("SELECT * FROM webhooks WHERE id = $1").bind(&id);
    let found = tx.one(query).await?.as_ref().map(webhook).transpose()?;
    found.ok_or_else(|| Error::not_found("webhook", &id))
}

/// The subscriptions that want to hear of an event.
pub(crate) async fn wanting(
    tx: &mut Transaction,
    event: FleetEvent,
    agent: Option<AgentId>,
    stack: Option<StackId>,
) -> Result<Vec<WebhookId>> {
    let rows = tx
        .all(sql(
            "SELECT * FROM webhooks WHERE enabled ORDER BY position",
        ))
        .await?;
    let webhooks = rows.iter().map(webhook).collect::<Result<Vec<_>>>()?;
    let wants = |webhook: &Webhook| webhook.settings.wants(event, agent, stack);
    Ok(webhooks
        .into_iter()
        .filter(wants)
        .map(|webhook| webhook.id)
        .collect())
}

/// Puts an event at the end of a subscription's queue.
pub(crate) async fn enqueue(
    tx: &mut Transaction,
    webhook: WebhookId,
    event: FleetEvent,
    event_id: Uuid,
    payload: &Value,
) -> Result<DeliveryId> {
    let (id, now, position): (DeliveryId, _, _) = (tx.id(), tx.now(), tx.position());
    let query = sql(
        "INSERT INTO webhook_deliveries (id, position, webhook_id, event_type, \
             event_id, payload, status, attempts, next_attempt_at, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, 'pending', 0, $7, $7)",
    )
    .bind(&id)
    .bind(&position)
    .bind(&webhook)
    .bind(&event)
    .bind(&event_id)
    .bind(payload)
    .bind(&now);
    tx.run(query).await?;
    Ok(id)
}

async fn create(tx: &mut Transaction, by: &Actor, settings: NewWebhook) -> Result<Webhook> {
    let webhook = Webhook {
        id: tx.id(),
        created_at: tx.now(),
        updated_at: tx.now(),
        settings,
    };
    let position = tx.position();
    let query = sql(
        "INSERT INTO webhooks (id, name, sealed_url, sealed_auth_header, \
             sealed_secret, event_types, filter, target_labels, enabled, max_retries, \
             timeout_seconds, updated_at, created_at, position) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    );
    let query = bind(query, &webhook)
        .bind(&webhook.created_at)
        .bind(&position);
    tx.run(query).await?;
    note(tx, by, Action::WebhookCreated, &webhook).await?;
    Ok(webhook)
}

async fn change(
    tx: &mut Transaction,
    by: &Actor,
    id: WebhookId,
    settings: NewWebhook,
) -> Result<Webhook> {
    let old = require(tx, id).await?;
    let webhook = Webhook {
        updated_at: tx.now(),
        settings,
        ..old
    };
    let query = sql(
        "UPDATE webhooks SET name = $2, sealed_url = $3, sealed_auth_header = $4, \
             sealed_secret = $5, event_types = $6, filter = $7, target_labels = $8, \
             enabled = $9, max_retries = $10, timeout_seconds = $11, updated_at = $12 \
         WHERE id = $1",
    );
    tx.run(bind(query, &webhook)).await?;
    note(tx, by, Action::WebhookUpdated, &webhook).await?;
    Ok(webhook)
}

async fn delete(tx: &mut Transaction, by: &Actor, id: WebhookId) -> Result<()> {
    let webhook = require(tx, id).await?;
    tx.run(sql("DELETE FROM webhook_deliveries WHERE webhook_id = $1").bind(&id))
        .await?;
    tx.run(sql("DELETE FROM webhooks WHERE id = $1").bind(&id))
        .await?;
    note(tx, by, Action::WebhookDeleted, &webhook).await
}

fn bind(query: Query, webhook: &Webhook) -> Query {
    let settings = &webhook.settings;
    query
        .bind(&webhook.id)
        .bind(&settings.name)
        .bind(&settings.sealed_url)
        .bind(&settings.sealed_auth_header)
        .bind(&settings.sealed_secret)
        .json(&settings.event_types)
        .json(&settings.filter)
        .json(&settings.target_labels)
        .bind(&settings.enabled)
        .bind(&settings.max_retries)
        .bind(&settings.timeout_seconds)
        .bind(&webhook.updated_at)
}

async fn note(tx: &mut Transaction, by: &Actor, action: Action, webhook: &Webhook) -> Result<()> {
    let details = json!({
        "name": webhook.settings.name,
        "event_types": webhook.settings.event_types,
        "enabled": webhook.settings.enabled,
    });
    tx.record(
        by,
        Fact::new(action, Subject::Webhook { id: webhook.id }, details),
    )
    .await
}

pub(super) fn webhook(row: &Row) -> Result<Webhook> {
    Ok(Webhook {
        id: row.get("id")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        settings: NewWebhook {
            name: row.get("name")?,
            sealed_url: row.get("sealed_url")?,
            sealed_auth_header: row.get("sealed_auth_header")?,
            sealed_secret: row.get("sealed_secret")?,
            event_types: row.json("event_types")?,
            filter: row.json("filter")?,
            target_labels: row.json("target_labels")?,
            enabled: row.get("enabled")?,
            max_retries: row.get("max_retries")?,
            timeout_seconds: row.get("timeout_seconds")?,
        },
    })
}
