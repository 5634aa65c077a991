//! Deliveries: events on their way to subscriptions, in order.

use std::time::Duration;

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, Attempt, Delivery, DeliveryId, DeliveryStatus, FleetEvent, Page, Paging,
    Webhook, WebhookId,
};
use futures::FutureExt;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{audit, webhooks};
use crate::database::Database;
use crate::page::{self, From};
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// A delivery that may be tried now, and where it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// What to send.
    pub delivery: Delivery,
    /// Where to.
    pub webhook: Webhook,
}

/// Events on their way to subscriptions. Only the oldest pending delivery of a subscription can
/// be claimed, so each receives its events in order.
#[async_trait]
pub trait Deliveries {
    /// Leases at most `limit` deliveries that are due; nobody else gets them until the lease ends.
    async fn deliveries_claim(
        &self,
        holder: &str,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Claimed>>;

    /// Says how a try ended. Refused when the lease has passed to somebody else.
    async fn delivery_finish(
        &self,
        id: DeliveryId,
        holder: &str,
        attempt: Attempt,
    ) -> Result<Delivery>;

    /// Puts a delivery that was given up, or succeeded, at the end of its queue again.
    async fn delivery_replay(&self, by: &Actor, id: DeliveryId) -> Result<Delivery>;

    /// Queues an event for one subscription only, to try it out.
    async fn delivery_test(
        &self,
        by: &Actor,
        webhook: WebhookId,
        event: FleetEvent,
    ) -> Result<Delivery>;

    /// One delivery.
    async fn delivery_get(&self, id: DeliveryId) -> Result<Option<Delivery>>;

    /// The deliveries of a subscription, newest first.
    async fn delivery_list(&self, webhook: WebhookId, paging: Paging) -> Result<Page<Delivery>>;
}

#[async_trait]
impl Deliveries for Database {
    async fn deliveries_claim(
        &self,
        holder: &str,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Claimed>> {
        let holder = holder.to_owned();
        self.write(move |tx| async move { claim(tx, &holder, lease, limit).await }.boxed())
            .await
    }

    async fn delivery_finish(
        &self,
        id: DeliveryId,
        holder: &str,
        attempt: Attempt,
    ) -> Result<Delivery> {
        let holder = holder.to_owned();
        self.write(move |tx| async move { finish(tx, id, &holder, attempt).await }.boxed())
            .await
    }

    async fn delivery_replay(&self, by: &Actor, id: DeliveryId) -> Result<Delivery> {
        let by = by.clone();
        self.write(move |tx| async move { replay(tx, &by, id).await }.boxed())
            .await
    }

    async fn delivery_test(
        &self,
        by: &Actor,
        webhook: WebhookId,
        event: FleetEvent,
    ) -> Result<Delivery> {
        let by = by.clone();
        self.write(move |tx| async move { test(tx, &by, webhook, event).await }.boxed())
            .await
    }

    async fn delivery_get(&self, id: DeliveryId) -> Result<Option<Delivery>> {
        self.one(
            sql("SELECT * FROM webhook_deliveries WHERE id = $1").bind(&id),
            delivery,
        )
        .await
    }

    async fn delivery_list(&self, webhook: WebhookId, paging: Paging) -> Result<Page<Delivery>> {
        let query = sql("SELECT * FROM webhook_deliveries WHERE position < $1 \
             AND webhook_id = $3 ORDER BY position DESC LIMIT $2");
        let query = page::bind(query, paging, From::Newest).bind(&webhook);
        self.page(query, paging, "position", delivery).await
    }
}

async fn claim(
    tx: &mut Transaction,
    holder: &str,
    lease: Duration,
    limit: u32,
) -> Result<Vec<Claimed>> {
    let now = tx.now();
    let until = now.saturating_add(lease).unwrap_or(Timestamp::MAX);
    let query = sql("SELECT d.id FROM webhook_deliveries d \
         JOIN webhooks w ON w.id = d.webhook_id AND w.enabled \
         WHERE d.status = 'pending' AND d.next_attempt_at <= $1 \
         AND (d.leased_until IS NULL OR d.leased_until <= $1) \
         AND NOT EXISTS (SELECT 1 FROM webhook_deliveries earlier \
             WHERE earlier.webhook_id = d.webhook_id AND earlier.status = 'pending' \
             AND earlier.position < d.position) \
         ORDER BY d.position LIMIT $2")
    .bind(&now)
    .bind(&i64::from(limit));
    let mut claimed = Vec::new();
    for row in tx.all(query).await? {
        claimed.push(lease_one(tx, row.get("id")?, holder, until).await?);
    }
    Ok(claimed)
}

async fn lease_one(
    tx: &mut Transaction,
    id: DeliveryId,
    holder: &str,
    until: Timestamp,
) -> Result<Claimed> {
    let query = sql("UPDATE webhook_deliveries \
         SET leased_by = $2, leased_until = $3, attempts = attempts + 1 WHERE id = $1")
    .bind(&id)
    .bind(&holder.to_owned())
    .bind(&until);
    tx.run(query).await?;
    let delivery = require(tx, id).await?;
    let webhook = webhooks::require(tx, delivery.webhook_id).await?;
    Ok(Claimed { delivery, webhook })
}

async fn finish(
    tx: &mut Transaction,
    id: DeliveryId,
    holder: &str,
    attempt: Attempt,
) -> Result<Delivery> {
    let old = require(tx, id).await?;
    if old.status != DeliveryStatus::Pending || old.leased_by.as_deref() != Some(holder) {
        let what = format!("delivery {id}");
        return Err(Error::LeaseLost {
            holder: holder.to_owned(),
            what,
        });
    }
    let freed = Delivery {
        leased_by: None,
        leased_until: None,
        ..old
    };
    let now = Some(tx.now());
    let delivery = match attempt {
        Attempt::Delivered { status_code } => Delivery {
            status: DeliveryStatus::Success,
            status_code: Some(status_code),
            last_error: None,
            completed_at: now,
            ..freed
        },
        Attempt::Retry {
            status_code,
            error,
            at,
        } => Delivery {
            status_code,
            last_error: Some(error),
            next_attempt_at: at,
            ..freed
        },
        Attempt::GiveUp { status_code, error } => Delivery {
            status: DeliveryStatus::Dead,
            status_code,
            last_error: Some(error),
            completed_at: now,
            ..freed
        },
    };
    update(tx, &delivery).await?;
    Ok(delivery)
}

async fn replay(tx: &mut Transaction, by: &Actor, id: DeliveryId) -> Result<Delivery> {
    let old = require(tx, id).await?;
    if old.status == DeliveryStatus::Pending {
        return Ok(old);
    }
    let delivery = Delivery {
        position: tx.position(),
        status: DeliveryStatus::Pending,
        attempts: 0,
        next_attempt_at: tx.now(),
        completed_at: None,
        ..old
    };
    update(tx, &delivery).await?;
    note(tx, by, Action::DeliveryReplayed, &delivery).await?;
    Ok(delivery)
}

async fn test(
    tx: &mut Transaction,
    by: &Actor,
    webhook: WebhookId,
    event: FleetEvent,
) -> Result<Delivery> {
    webhooks::require(tx, webhook).await?;
    let event_id: Uuid = tx.id();
    let data = json!({ "test": true, "webhook_id": webhook });
    let payload: Value =
        json!({ "id": event_id, "event_type": event, "timestamp": tx.now(), "data": data });
    let id = webhooks::enqueue(tx, webhook, event, event_id, &payload).await?;
    let delivery = require(tx, id).await?;
    note(tx, by, Action::WebhookTested, &delivery).await?;
    Ok(delivery)
}

/// Deliveries are no part of anybody's cache: a line in the audit log is all.
async fn note(tx: &mut Transaction, by: &Actor, action: Action, delivery: &Delivery) -> Result<()> {
    let details = json!({
        "delivery_id": delivery.id,
        "webhook_id": delivery.webhook_id,
        "event_type": delivery.event_type,
    });
    let webhook = Some(delivery.webhook_id.0);
    audit::insert(tx, by, action, webhook, Some(&details)).await
}

async fn require(tx: &mut Transaction, id: DeliveryId) -> Result<Delivery> {
    let query = sql("SELECT * FROM webhook_deliveries WHERE id = $1").bind(&id);
    let found = tx.one(query).await?.as_ref().map(delivery).transpose()?;
    found.ok_or_else(|| Error::not_found("delivery", &id))
}

async fn update(tx: &mut Transaction, delivery: &Delivery) -> Result<()> {
    let query = sql(
        "UPDATE webhook_deliveries SET position = $2, status = $3, attempts = $4, \
             next_attempt_at = $5, leased_by = $6, leased_until = $7, status_code = $8, \
             last_error = $9, completed_at = $10 WHERE id = $1",
    )
    .bind(&delivery.id)
    .bind(&delivery.position)
    .bind(&delivery.status)
    .bind(&delivery.attempts)
    .bind(&delivery.next_attempt_at)
    .bind(&delivery.leased_by)
    .bind(&delivery.leased_until)
    .bind(&delivery.status_code)
    .bind(&delivery.last_error)
    .bind(&delivery.completed_at);
    tx.run(query).await.map(drop)
}

fn delivery(row: &Row) -> Result<Delivery> {
    Ok(Delivery {
        id: row.get("id")?,
        position: row.get("position")?,
        webhook_id: row.get("webhook_id")?,
        event_type: row.get("event_type")?,
        event_id: row.get("event_id")?,
        payload: row.get("payload")?,
        status: row.get("status")?,
        attempts: row.get("attempts")?,
        next_attempt_at: row.get("next_attempt_at")?,
        leased_by: row.get("leased_by")?,
        leased_until: row.get("leased_until")?,
        status_code: row.get("status_code")?,
        last_error: row.get("last_error")?,
        created_at: row.get("created_at")?,
        completed_at: row.get("completed_at")?,
    })
}
