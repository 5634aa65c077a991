//! Webhooks: signed, in order, at least once, given up and replayed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evenkeel_api::{Delivery, ListQuery, NewWebhook, Webhook};
use evenkeel_model::{DeliveryStatus, WebhookId};
use evenkeel_store::Webhooks as _;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::world::World;

/// Somebody who wants to be told, and says what a test wants to hear.
#[derive(Clone, Default)]
struct Receiver {
    heard: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
    /// What to answer, in turn; 200 when there is nothing left.
    answers: Arc<Mutex<Vec<u16>>>,
}

impl Receiver {
    async fn start(answers: &[u16]) -> (Self, String) {
        let this = Self::default();
        this.answers.lock().unwrap().extend(answers.iter().rev());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = Router::new()
            .route(
                "/hook",
                post(
                    async |state: State<Self>, headers: HeaderMap, body: Bytes| {
                        Self::hear(state, headers, body)
                    },
                ),
            )
            .with_state(this.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (this, url)
    }

    fn hear(State(this): State<Self>, headers: HeaderMap, body: Bytes) -> StatusCode {
        this.heard.lock().unwrap().push((headers, body));
        let answer = this.answers.lock().unwrap().pop().unwrap_or(200);
        StatusCode::from_u16(answer).unwrap()
    }

    fn heard(&self) -> Vec<(HeaderMap, Bytes)> {
        self.heard.lock().unwrap().clone()
    }

    fn names(&self) -> Vec<String> {
        let name = |(_, body): &(HeaderMap, Bytes)| {
            let envelope: Value = serde_json::from_slice(body).unwrap();
            envelope["data"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        self.heard().iter().map(name).collect()
    }
}

async fn subscribe(world: &World, url: &str, retries: i64) -> (Webhook, Option<String>) {
    let new: NewWebhook = serde_json::from_value(json!({
        "name": "all", "url": url, "auth_header": "Bearer letmein",
        "event_types": ["stack.*"], "max_retries": retries, "timeout_seconds": 5,
    }))
    .unwrap();
    let created = world.admin.webhook_create(&new).await.unwrap();
    (created.webhook, created.secret)
}

async fn deliveries(world: &World, id: WebhookId) -> Vec<Delivery> {
    world
        .admin
        .delivery_list(id, &ListQuery::default())
        .await
        .unwrap()
        .items
}

/// Waits until no delivery of the subscription is pending.
async fn settled(world: &World, id: WebhookId) -> Vec<Delivery> {
    loop {
        let all = deliveries(world, id).await;
        if !all.is_empty() && all.iter().all(|one| one.status != DeliveryStatus::Pending) {
            return all;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn deliveries_are_signed_and_carry_id_and_time() {
    let world = World::new().await;
    let (receiver, url) = Receiver::start(&[]).await;
    let (hook, secret) = subscribe(&world, &url, 0).await;
    world.tenant("shop").await.stack("web").await;
    let delivered = settled(&world, hook.id).await;
    let (headers, body) = receiver.heard().remove(0);
    let text = |name: &str| headers[name].to_str().unwrap().to_owned();
    assert_eq!(text("webhook-id"), delivered[0].id.to_string());
    assert_eq!(text("authorization"), "Bearer letmein");
    assert_eq!(text("x-brokkr-event-type"), "stack.created");
    let secret = secret.unwrap();
    let key = STANDARD
        .decode(secret.strip_prefix("whsec_").unwrap())
        .unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    let signed = [
        text("webhook-id").as_bytes(),
        b".",
        text("webhook-timestamp").as_bytes(),
        b".",
        &body,
    ]
    .concat();
    let signature = STANDARD
        .decode(text("webhook-signature").strip_prefix("v1,").unwrap())
        .unwrap();
    ring::hmac::verify(&key, &signed, &signature).unwrap();
    assert_eq!(delivered[0].status, DeliveryStatus::Success);
}

#[tokio::test]
async fn deliveries_come_in_order_also_when_one_must_be_repeated() {
    let world = World::new().await;
    let (receiver, url) = Receiver::start(&[503, 500]).await;
    let (hook, _) = subscribe(&world, &url, 5).await;
    let shop = world.tenant("shop").await;
    for name in ["a", "b", "c"] {
        shop.stack(name).await;
    }
    let all = settled(&world, hook.id).await;
    assert_eq!(receiver.names(), ["a", "a", "a", "b", "c"]);
    assert_eq!(all.last().unwrap().attempts, 3);
    let ids: Vec<_> = receiver
        .heard()
        .iter()
        .map(|(h, _)| h["webhook-id"].clone())
        .collect();
    assert_eq!(
        ids[0], ids[2],
        "a repeated delivery has the id of the first"
    );
}

#[tokio::test]
async fn what_cannot_succeed_is_given_up_and_can_be_replayed() {
    let world = World::new().await;
    let (receiver, url) = Receiver::start(&[410]).await;
    let (hook, _) = subscribe(&world, &url, 5).await;
    world.tenant("shop").await.stack("web").await;
    let dead = settled(&world, hook.id).await.remove(0);
    assert_eq!(
        (dead.status, dead.attempts, dead.status_code),
        (DeliveryStatus::Dead, 1, Some(410))
    );
    world.admin.delivery_replay(dead.id).await.unwrap();
    let alive = settled(&world, hook.id).await.remove(0);
    assert_eq!(alive.status, DeliveryStatus::Success);
    assert_eq!(receiver.heard().len(), 2);
}

#[tokio::test]
async fn tries_end_after_the_number_that_was_asked_for() {
    let world = World::new().await;
    let (receiver, url) = Receiver::start(&[500, 500, 500, 500]).await;
    let (hook, _) = subscribe(&world, &url, 1).await;
    world.tenant("shop").await.stack("web").await;
    let dead = settled(&world, hook.id).await.remove(0);
    assert_eq!((dead.status, dead.attempts), (DeliveryStatus::Dead, 2));
    assert_eq!(receiver.heard().len(), 2);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let world = World::new().await;
    let (receiver, url) = Receiver::start(&[302]).await;
    let (hook, _) = subscribe(&world, &url, 0).await;
    world.admin.webhook_test(hook.id).await.unwrap();
    let dead = settled(&world, hook.id).await.remove(0);
    assert_eq!(
        (dead.status, dead.status_code),
        (DeliveryStatus::Dead, Some(302))
    );
    assert_eq!(receiver.heard().len(), 1);
}

#[tokio::test]
async fn secrets_are_sealed_at_rest_and_never_shown_again() {
    let world = World::new().await;
    let (_, url) = Receiver::start(&[]).await;
    let (hook, secret) = subscribe(&world, &url, 0).await;
    let kept = world
        .database
        .webhook_get(hook.id)
        .await
        .unwrap()
        .unwrap()
        .settings;
    let sealed = [
        kept.sealed_url,
        kept.sealed_auth_header.unwrap(),
        kept.sealed_secret.unwrap(),
    ]
    .concat();
    let sealed = String::from_utf8_lossy(&sealed).into_owned();
    for secret in [url.as_str(), "letmein", secret.unwrap().as_str()] {
        assert!(!sealed.contains(secret));
    }
    let shown = serde_json::to_string(&world.admin.webhook_get(hook.id).await.unwrap()).unwrap();
    assert!(
        !shown.contains("letmein") && !shown.contains("127.0.0.1"),
        "{shown}"
    );
    assert!(hook.has_url && hook.has_auth_header && hook.has_secret);
}

#[tokio::test]
async fn background_work_can_be_watched() {
    let world = World::new().await;
    let tasks = world.admin.task_list().await.unwrap();
    let names: Vec<_> = tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["signs", "deliveries", "retention"]);
}
