//! Webhooks.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{CreatedWebhook, Delivery, ListQuery, NewWebhook, Webhook, WebhookUpdate};
use evenkeel_model::{AgentId, DeliveryId, FleetEvent, WebhookId};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Json, Path, Query};
use crate::respond::{Created, Done, Paged};

/// The subscriptions, without their secrets.
#[utoipa::path(get, path = "/webhooks", tag = "webhooks", params(ListQuery),
    responses((status = 200, body = Vec<Webhook>)))]
pub(crate) async fn webhook_list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Paged<Webhook>> {
    app.webhook_list(&caller, query.paging()).await.map(Paged)
}

/// Subscribes. A secret that is made up here is shown this once.
#[utoipa::path(post, path = "/webhooks", tag = "webhooks", request_body = NewWebhook,
    responses((status = 201, body = CreatedWebhook)))]
pub(crate) async fn webhook_create(
    State(app): State<App>,
    caller: Caller,
    Json(new): Json<NewWebhook>,
) -> Result<Created<CreatedWebhook>> {
    app.webhook_create(&caller, new).await.map(Created)
}

/// What can be subscribed to.
#[utoipa::path(get, path = "/webhooks/event-types", tag = "webhooks",
    responses((status = 200, body = Vec<FleetEvent>)))]
pub(crate) async fn webhook_event_types(caller: Caller) -> Result<Answer<Vec<FleetEvent>>> {
    caller.operator().map(|()| Answer(FleetEvent::ALL.to_vec()))
}

/// One subscription, without its secrets.
#[utoipa::path(get, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    responses((status = 200, body = Webhook)))]
pub(crate) async fn webhook_get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<WebhookId>,
) -> Result<Answer<Webhook>> {
    app.webhook_get(&caller, id).await.map(Answer)
}

/// Changes a subscription.
#[utoipa::path(put, path = "/webhooks/{id}", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body = WebhookUpdate, responses((status = 200, body = Webhook)))]
pub(crate) async fn webhook_update(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<WebhookId>,
    Json(update): Json<WebhookUpdate>,
) -> Result<Answer<Webhook>> {
    app.webhook_update(&caller, id, update).await.map(Answer)
}

/// Ends a subscription and forgets its deliveries.
#[utoipa::path(delete, path = "/webhooks/{id}", tag = "webhooks",
    params(("id" = WebhookId, Path)), responses((status = 204)))]
pub(crate) async fn webhook_delete(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<WebhookId>,
) -> Result<Done> {
    app.webhook_delete(&caller, id).await.map(|()| Done)
}

/// Sends an event to this subscription only, to try it out.
#[utoipa::path(post, path = "/webhooks/{id}/test", tag = "webhooks",
    params(("id" = WebhookId, Path)), responses((status = 200, body = Delivery)))]
pub(crate) async fn webhook_test(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<WebhookId>,
) -> Result<Answer<Delivery>> {
    app.webhook_test(&caller, id).await.map(Answer)
}

/// What became of the subscription's deliveries, newest first.
#[utoipa::path(get, path = "/webhooks/{id}/deliveries", tag = "webhooks",
    params(("id" = WebhookId, Path), ListQuery), responses((status = 200, body = Vec<Delivery>)))]
pub(crate) async fn delivery_list(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<WebhookId>,
    Query(query): Query<ListQuery>,
) -> Result<Paged<Delivery>> {
    app.delivery_list(&caller, id, query.paging())
        .await
        .map(Paged)
}

/// Sends a delivery again that was given up or arrived.
#[utoipa::path(post, path = "/webhook-deliveries/{id}/replay", tag = "webhooks",
    params(("id" = DeliveryId, Path)), responses((status = 200, body = Delivery)))]
pub(crate) async fn delivery_replay(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<DeliveryId>,
) -> Result<Answer<Delivery>> {
    app.delivery_replay(&caller, id).await.map(Answer)
}

/// Always empty: the broker itself delivers. Older agents ask for it.
#[utoipa::path(get, path = "/agents/{id}/webhooks/pending", tag = "webhooks",
    params(("id" = AgentId, Path)), responses((status = 200, body = Vec<Delivery>)))]
pub(crate) async fn agent_deliveries(
    caller: Caller,
    Path(id): Path<AgentId>,
) -> Result<Answer<Vec<Delivery>>> {
    caller.agent(id).map(|()| Answer(Vec::new()))
}
