//! Webhooks, deliveries and leases.

use std::time::Duration;

use evenkeel_model::*;
use evenkeel_store::*;
use jiff::SignedDuration;

use crate::world::{World, name, on_every_database};

on_every_database! {
    webhooks_hear_of_events_whatever_way_they_came,
    deliveries_stay_in_order_and_are_leased,
    a_lost_lease_cannot_finish_a_delivery,
    a_dead_delivery_can_be_replayed,
    leases_pass_on_only_when_they_end,
}

fn webhook(patterns: &[&str]) -> NewWebhook {
    NewWebhook {
        name: name("hook"),
        sealed_url: b"\x01sealed\x00\xff".to_vec(),
        sealed_auth_header: None,
        sealed_secret: Some(vec![7; 32]),
        event_types: patterns
            .iter()
            .map(|pattern| pattern.parse().unwrap())
            .collect(),
        filter: WebhookFilter::default(),
        target_labels: vec![],
        enabled: true,
        max_retries: 5,
        timeout_seconds: 30,
    }
}

async fn webhooks_hear_of_events_whatever_way_they_came(w: World) {
    let created = w
        .store
        .webhook_create(&w.by, webhook(&["*"]))
        .await
        .unwrap();
    let (_, agent, stack, object) = w.small_fleet().await;
    let narrow = NewWebhook {
        filter: WebhookFilter {
            agent_id: None,
            stack_id: Some(stack),
        },
        ..webhook(&["deployment.failed"])
    };
    let narrow = w.store.webhook_create(&w.by, narrow).await.unwrap().id;
    w.report(agent, &object, EventStatus::Failure).await;
    w.report(agent, &object, EventStatus::Success).await;
    w.store.stack_delete(&w.by, stack).await.unwrap();
    let told = async |id| {
        let page = w.store.delivery_list(id, Paging::ALL).await.unwrap();
        page.items
            .into_iter()
            .rev()
            .map(|delivery| delivery.event_type)
            .collect::<Vec<_>>()
    };
    let expected = [
        FleetEvent::AgentRegistered,
        FleetEvent::StackCreated,
        FleetEvent::DeploymentCreated,
        FleetEvent::DeploymentFailed,
        FleetEvent::DeploymentApplied,
        FleetEvent::StackDeleted,
    ];
    assert_eq!(told(created.id).await, expected);
    assert_eq!(told(narrow).await, [FleetEvent::DeploymentFailed]);
    assert_eq!(
        w.store.webhook_get(created.id).await.unwrap(),
        Some(created.clone())
    );
    w.store.webhook_delete(&w.by, created.id).await.unwrap();
    assert_eq!(
        w.store.webhook_list(Paging::ALL).await.unwrap().items.len(),
        1
    );
}

async fn deliveries_stay_in_order_and_are_leased(w: World) {
    let hook = w
        .store
        .webhook_create(&w.by, webhook(&["stack.created"]))
        .await
        .unwrap()
        .id;
    let generator = w.generator("ci").await;
    w.stack(generator, "one").await;
    w.stack(generator, "two").await;
    let lease = Duration::from_secs(60);
    let claim = async |holder: &str| w.store.deliveries_claim(holder, lease, 10).await.unwrap();

    let first = claim("a").await;
    assert_eq!(first.len(), 1, "only the oldest of a subscription");
    assert_eq!(first[0].webhook.id, hook);
    assert_eq!(claim("b").await, [], "it is leased");
    let now = evenkeel_ambient::Clock::now(&w.clock);
    let later = now + SignedDuration::from_secs(5);
    let retry = Attempt::Retry {
        status_code: Some(500),
        error: "oops".into(),
        at: later,
    };
    w.store
        .delivery_finish(first[0].delivery.id, "a", retry)
        .await
        .unwrap();
    assert_eq!(
        claim("b").await,
        [],
        "the second waits for the retry of the first"
    );
    w.clock.advance(SignedDuration::from_secs(6));
    let again = claim("b").await;
    assert_eq!(again[0].delivery.id, first[0].delivery.id);
    assert_eq!(again[0].delivery.attempts, 2);
    let done = Attempt::Delivered { status_code: 204 };
    let done = w
        .store
        .delivery_finish(again[0].delivery.id, "b", done)
        .await
        .unwrap();
    assert_eq!(done.status, DeliveryStatus::Success);
    let second = claim("a").await;
    assert_eq!(second[0].delivery.payload["data"]["name"], "two");
}

async fn a_lost_lease_cannot_finish_a_delivery(w: World) {
    let hook = w
        .store
        .webhook_create(&w.by, webhook(&["*"]))
        .await
        .unwrap()
        .id;
    w.store
        .delivery_test(&w.by, hook, FleetEvent::StackCreated)
        .await
        .unwrap();
    let lease = Duration::from_secs(60);
    let id = w.store.deliveries_claim("a", lease, 1).await.unwrap()[0]
        .delivery
        .id;
    w.clock.advance(SignedDuration::from_secs(61));
    assert_eq!(
        w.store.deliveries_claim("b", lease, 1).await.unwrap().len(),
        1
    );
    let done = Attempt::Delivered { status_code: 200 };
    let late = w.store.delivery_finish(id, "a", done.clone()).await;
    assert!(matches!(late, Err(Error::LeaseLost { .. })), "{late:?}");
    w.store
        .delivery_finish(id, "b", done.clone())
        .await
        .unwrap();
    let twice = w.store.delivery_finish(id, "b", done).await;
    assert!(matches!(twice, Err(Error::LeaseLost { .. })), "{twice:?}");
}

async fn a_dead_delivery_can_be_replayed(w: World) {
    let hook = w
        .store
        .webhook_create(&w.by, webhook(&["*"]))
        .await
        .unwrap()
        .id;
    let id = w
        .store
        .delivery_test(&w.by, hook, FleetEvent::StackCreated)
        .await
        .unwrap()
        .id;
    let lease = Duration::from_secs(60);
    w.store.deliveries_claim("a", lease, 1).await.unwrap();
    let dead = Attempt::GiveUp {
        status_code: Some(410),
        error: "gone".into(),
    };
    let dead = w.store.delivery_finish(id, "a", dead).await.unwrap();
    assert_eq!(
        (dead.status, dead.completed_at.is_some()),
        (DeliveryStatus::Dead, true)
    );
    assert_eq!(w.store.deliveries_claim("a", lease, 1).await.unwrap(), []);
    w.store.delivery_replay(&w.by, id).await.unwrap();
    assert_eq!(
        w.store.deliveries_claim("a", lease, 1).await.unwrap()[0]
            .delivery
            .id,
        id
    );
    let got = w.store.delivery_get(id).await.unwrap().unwrap();
    assert_eq!((got.status, got.attempts), (DeliveryStatus::Pending, 1));
    for action in [Action::WebhookTested, Action::DeliveryReplayed] {
        let lines = AuditFilter {
            action: Some(action),
            resource_id: Some(hook.0),
            ..AuditFilter::default()
        };
        let lines = w.store.audit_list(lines, Paging::ALL).await.unwrap().items;
        assert_eq!((lines.len(), &lines[0].actor), (1, &w.by), "{action}");
    }
}

async fn leases_pass_on_only_when_they_end(w: World) {
    let length = Duration::from_secs(30);
    let acquire = async |holder: &str| {
        w.store
            .lease_acquire("sweep", holder, length)
            .await
            .unwrap()
    };
    let first = acquire("a").await.unwrap();
    assert_eq!(acquire("b").await, None);
    w.clock.advance(SignedDuration::from_secs(20));
    let renewed = acquire("a").await.unwrap();
    assert_eq!(renewed.term, first.term);
    w.clock.advance(SignedDuration::from_secs(20));
    assert_eq!(acquire("b").await, None, "it was renewed");
    w.clock.advance(SignedDuration::from_secs(11));
    let second = acquire("b").await.unwrap();
    assert_eq!(second.term, first.term + 1);
    w.store.lease_release(&renewed).await.unwrap();
    assert_eq!(
        acquire("a").await,
        None,
        "a late release of an old term changes nothing"
    );
    w.store.lease_release(&second).await.unwrap();
    assert_eq!(acquire("a").await.unwrap().term, second.term + 1);
}
