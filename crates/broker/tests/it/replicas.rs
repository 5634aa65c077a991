//! Several brokers on one PostgreSQL, any of which may die.

use std::time::Duration;

use evenkeel_api::{ListQuery, NewWebhook};
use evenkeel_client::{Client, Poll};
use evenkeel_testkit::{Postgres, skip};
use serde_json::json;

use crate::world::{Scene, World, config, open, start};

/// A second broker's own connection to the same database, or nothing where there is none.
pub(crate) async fn database() -> Option<String> {
    match Postgres::shared().await {
        Ok(server) => Some(server.database().await.unwrap()),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

pub(crate) fn shared_config() -> evenkeel_broker::Config {
    let mut config = config();
    config.webhooks.encryption_key = Some("ab".repeat(32));
    config
}

struct Twin {
    broker: evenkeel_broker::Broker,
    address: String,
}

async fn twin(url: &str) -> Twin {
    let database = open(url).await;
    let (broker, _) = start(&database, shared_config()).await;
    let address = format!("http://{}", broker.address());
    Twin { broker, address }
}

fn at(twin: &Twin, key: &str) -> Client {
    Client::new(&twin.address, key).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_broker_is_told_the_other_serves() {
    let Some(url) = database().await else { return };
    let it = Scene::of(World::on(open(&url).await, shared_config()).await).await;
    let other = twin(&url).await;
    assert_eq!(other.broker.first_key(), None);
    let there = at(&other, &it.agent.key);
    let first = there
        .target_state(it.agent.id, &Poll::default())
        .await
        .unwrap()
        .unwrap();
    let poll = Poll {
        known: Some(first.version),
        wait: Some(Duration::from_secs(30)),
        without_bodies: false,
    };
    let (answer, object) = tokio::join!(there.target_state(it.agent.id, &poll), it.submit("one"));
    let mut answer = answer.unwrap();
    // The poll may have begun before the other broker had heard of the target.
    while answer.as_ref().is_none_or(|state| state.objects.is_empty()) {
        answer = there
            .target_state(it.agent.id, &Poll::default())
            .await
            .unwrap();
    }
    assert_eq!(answer.unwrap().objects[0].id, object.id);
    // Both name the same state alike, so an agent may change brokers.
    let here = it.agent.target_state().await.version;
    let known = Poll {
        known: Some(here),
        ..Poll::default()
    };
    assert_eq!(there.target_state(it.agent.id, &known).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_one_broker_revokes_opens_nothing_on_the_other() {
    let Some(url) = database().await else { return };
    let world = World::on(open(&url).await, shared_config()).await;
    let other = twin(&url).await;
    let shop = world.tenant("shop").await;
    let there = at(&other, &shop.key);
    assert_eq!(there.auth_pak().await.unwrap().generator, Some(shop.id));
    world.admin.generator_rotate(shop.id).await.unwrap();
    let revoked = async {
        while there.auth_pak().await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(4), revoked)
        .await
        .expect("before the next look");
}

/// Two brokers start at once on an empty database: one administrator's key, one system generator.
#[tokio::test(flavor = "multi_thread")]
async fn brokers_that_start_together_mint_one_key() {
    let Some(url) = database().await else { return };
    let (one, two) = (open(&url).await, open(&url).await);
    let ((one, _a), (two, _b)) =
        tokio::join!(start(&one, shared_config()), start(&two, shared_config()));
    let first = [one.first_key(), two.first_key()];
    assert_eq!(first.iter().flatten().count(), 1, "{first:?}");
    let key = &first.into_iter().flatten().next().unwrap().key;
    let client = Client::new(&format!("http://{}", two.address()), key).unwrap();
    let all = client
        .generator_list(&ListQuery::default())
        .await
        .unwrap()
        .items;
    assert_eq!(all.len(), 1);
}

/// Two brokers and one outbox: each event is sent once, by one of them.
#[tokio::test(flavor = "multi_thread")]
async fn two_brokers_do_not_send_a_delivery_twice() {
    let Some(url) = database().await else { return };
    let world = World::on(open(&url).await, shared_config()).await;
    let _other = twin(&url).await;
    let heard = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = heard.clone();
    let router = axum::Router::new().fallback(move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        std::future::ready("ok")
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let hook: NewWebhook = serde_json::from_value(
        json!({ "name": "h", "url": target, "event_types": ["stack.created"] }),
    )
    .unwrap();
    let hook = world.admin.webhook_create(&hook).await.unwrap().webhook;
    let shop = world.tenant("shop").await;
    for number in 0..10 {
        shop.stack(&format!("s{number}")).await;
    }
    let pending = async || {
        let all = world
            .admin
            .delivery_list(hook.id, &ListQuery::default())
            .await
            .unwrap()
            .items;
        all.iter().filter(|one| one.completed_at.is_none()).count()
    };
    while pending().await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(heard.load(std::sync::atomic::Ordering::SeqCst), 10);
}

/// What is asked of one broker wakes the agent that waits at the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_control_on_one_broker_wakes_a_poll_on_the_other() {
    let Some(url) = database().await else { return };
    let it = Scene::of(World::on(open(&url).await, shared_config()).await).await;
    let other = twin(&url).await;
    it.submit("one").await;
    let there = at(&other, &it.agent.key);
    let known = it.agent.target_state().await.version;
    let poll = Poll {
        known: Some(known),
        wait: Some(Duration::from_secs(30)),
        without_bodies: true,
    };
    let (answer, ()) = tokio::join!(there.target_state(it.agent.id, &poll), async {
        let fleet = || at(&other, &it.world.broker.first_key().unwrap().key);
        while !fleet().fleet().await.unwrap()[0].ws_connected {
            tokio::task::yield_now().await;
        }
        it.shop.client.stack_suspend(it.stack.id).await.unwrap();
    });
    let object = answer.unwrap().expect("woken").objects.remove(0);
    assert!(object.control.suspended);
}
