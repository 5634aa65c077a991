//! Webhooks: subscriptions, and what became of their deliveries.

use evenkeel_api::{CreatedWebhook, Delivery, NewWebhook, Webhook, WebhookUpdate};
use evenkeel_model::{
    DeliveryId, EventPattern, FleetEvent, NewWebhook as Settings, Page, Paging, Webhook as Stored,
    WebhookId,
};
use http::StatusCode;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::webhook::{Sealer, made_up_secret, seal};

const MAX_RETRIES: std::ops::RangeInclusive<i64> = 0..=10;
const TIMEOUT_SECONDS: std::ops::RangeInclusive<i64> = 1..=300;

impl Core {
    pub(crate) async fn webhook_list(
        &self,
        caller: &Caller,
        paging: Paging,
    ) -> Result<Page<Webhook>> {
        caller.operator()?;
        Ok(self.store.webhook_list(paging).await?.map(Into::into))
    }

    pub(crate) async fn webhook_create(
        &self,
        caller: &Caller,
        new: NewWebhook,
    ) -> Result<CreatedWebhook> {
        caller.operator()?;
        let made_up = new
            .secret
            .is_none()
            .then(|| made_up_secret(self.random.as_ref()));
        let secret = new
            .secret
            .clone()
            .or_else(|| made_up.clone())
            .unwrap_or_default();
        let settings = self.webhook_settings(new, &secret)?;
        let webhook = self.store.webhook_create(&caller.actor, settings).await?;
        Ok(CreatedWebhook {
            webhook: webhook.into(),
            secret: made_up,
        })
    }

    fn webhook_settings(&self, new: NewWebhook, secret: &str) -> Result<Settings> {
        self.check_url(&new.url)?;
        Ok(Settings {
            name: new.name,
            sealed_url: self.sealed(&new.url)?,
            sealed_auth_header: new.auth_header.map(|text| self.sealed(&text)).transpose()?,
            sealed_secret: Some(self.sealed(secret)?),
            event_types: checked_types(new.event_types)?,
            filter: new.filters.unwrap_or_default(),
            target_labels: checked_labels(new.target_labels)?,
            enabled: new.enabled.unwrap_or(true),
            max_retries: within("max_retries", new.max_retries.unwrap_or(5), &MAX_RETRIES)?,
            timeout_seconds: within(
                "timeout_seconds",
                new.timeout_seconds.unwrap_or(30),
                &TIMEOUT_SECONDS,
            )?,
        })
    }

    pub(crate) async fn webhook_get(&self, caller: &Caller, id: WebhookId) -> Result<Webhook> {
        caller.operator()?;
        self.webhook_required(id).await.map(Into::into)
    }

    pub(crate) async fn webhook_update(
        &self,
        caller: &Caller,
        id: WebhookId,
        update: WebhookUpdate,
    ) -> Result<Webhook> {
        caller.operator()?;
        let old = self.webhook_required(id).await?.settings;
        let settings = self.webhook_changed(old, update)?;
        Ok(self
            .store
            .webhook_update(&caller.actor, id, settings)
            .await?
            .into())
    }

    fn webhook_changed(&self, old: Settings, update: WebhookUpdate) -> Result<Settings> {
        let seal = |text: String| self.sealed(&text);
        if let Some(url) = &update.url {
            self.check_url(url)?;
        }
        checked_labels(update.target_labels)?;
        let retries = update.max_retries.unwrap_or(old.max_retries);
        let timeout = update.timeout_seconds.unwrap_or(old.timeout_seconds);
        Ok(Settings {
            name: update.name.unwrap_or(old.name),
            sealed_url: update.url.map(seal).transpose()?.unwrap_or(old.sealed_url),
            sealed_auth_header: match update.auth_header {
                None => old.sealed_auth_header,
                Some(text) => text.map(seal).transpose()?,
            },
            sealed_secret: update.secret.map(seal).transpose()?.or(old.sealed_secret),
            event_types: update
                .event_types
                .map_or(Ok(old.event_types), checked_types)?,
            filter: update.filters.map_or(old.filter, Option::unwrap_or_default),
            target_labels: old.target_labels,
            enabled: update.enabled.unwrap_or(old.enabled),
            max_retries: within("max_retries", retries, &MAX_RETRIES)?,
            timeout_seconds: within("timeout_seconds", timeout, &TIMEOUT_SECONDS)?,
        })
    }

    pub(crate) async fn webhook_delete(&self, caller: &Caller, id: WebhookId) -> Result<()> {
        caller.operator()?;
        Ok(self.store.webhook_delete(&caller.actor, id).await?)
    }

    /// Queues an event for this subscription only.
    pub(crate) async fn webhook_test(&self, caller: &Caller, id: WebhookId) -> Result<Delivery> {
        caller.operator()?;
        let delivery = self
            .store
            .delivery_test(&caller.actor, id, FleetEvent::DeploymentApplied)
            .await?;
        self.board.wake();
        Ok(delivery.into())
    }

    pub(crate) async fn delivery_list(
        &self,
        caller: &Caller,
        id: WebhookId,
        paging: Paging,
    ) -> Result<Page<Delivery>> {
        caller.operator()?;
        self.webhook_required(id).await?;
        Ok(self.store.delivery_list(id, paging).await?.map(Into::into))
    }

    /// Sends a delivery again that was given up or arrived.
    pub(crate) async fn delivery_replay(
        &self,
        caller: &Caller,
        id: DeliveryId,
    ) -> Result<Delivery> {
        caller.operator()?;
        let delivery = self.store.delivery_replay(&caller.actor, id).await?;
        self.board.wake();
        Ok(delivery.into())
    }

    async fn webhook_required(&self, id: WebhookId) -> Result<Stored> {
        let found = self.store.webhook_get(id).await?;
        found.ok_or_else(|| ApiError::not_found("webhook", id))
    }

    fn check_url(&self, url: &str) -> Result<()> {
        let refused = |error: crate::webhook::RefusedAddress| {
            ApiError::unprocessable("invalid_url", error.to_string())
        };
        self.webhooks.check(url).map_err(refused)
    }

    fn sealed(&self, text: &str) -> Result<Vec<u8>> {
        Ok(seal(self.sealer()?, self.random.as_ref(), text))
    }

    fn sealer(&self) -> Result<&Sealer> {
        self.webhooks.sealer().ok_or_else(|| {
            let text = "brokers that share a database need webhooks.encryption_key";
            ApiError::new(StatusCode::CONFLICT, "webhooks_not_configured", text)
        })
    }
}

fn within(field: &'static str, value: i64, range: &std::ops::RangeInclusive<i64>) -> Result<i64> {
    if range.contains(&value) {
        return Ok(value);
    }
    let text = format!(
        "`{field}` must be between {} and {}",
        range.start(),
        range.end()
    );
    Err(ApiError::unprocessable("check_violation", text))
}

fn checked_types(types: Vec<EventPattern>) -> Result<Vec<EventPattern>> {
    if types.is_empty() {
        let text = "`event_types` must name at least one event";
        return Err(ApiError::unprocessable("check_violation", text));
    }
    Ok(types)
}

/// Secrets stay with the broker: agents do not deliver.
fn checked_labels(labels: Option<Vec<String>>) -> Result<Vec<String>> {
    match labels {
        Some(labels) if !labels.is_empty() => {
            let text = "`target_labels` is not supported: the broker itself delivers";
            Err(ApiError::unprocessable("unsupported_field", text))
        }
        _ => Ok(Vec::new()),
    }
}
