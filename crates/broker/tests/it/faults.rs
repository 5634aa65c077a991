//! Faults that a predecessor of this API had, each a test named after it (the letters are those
//! of the list they were collected in).

use std::time::Duration;

use evenkeel_api::{
    AgentUpdate, GeneratorUpdate, HealthReport, ListQuery, NewDeployment, NewWebhook,
    ReportedHealth, StackUpdate,
};
use evenkeel_client::Submit;
use evenkeel_model::{Action, ActorKind, EventStatus, FleetEvent, HealthStatus, Phase};
use evenkeel_store::{Expendable, Retention as _};
use serde_json::json;

use crate::world::{Scene, World};

/// a: an agent that confirmed a revision was no longer served it and deleted it.
#[tokio::test]
async fn a_what_was_applied_goes_on_being_served() {
    let it = Scene::new().await;
    let object = it.submit("one").await;
    for _ in 0..3 {
        assert_eq!(it.agent.sequences().await, [object.sequence_id.0]);
        it.agent.reports(object.id, EventStatus::Success).await;
    }
}

/// b: a failure counted as done; and when events were forgotten everything was applied again.
#[tokio::test]
async fn b_a_failure_hides_nothing_and_forgetting_events_changes_nothing() {
    let it = Scene::new().await;
    let object = it.submit("one").await;
    it.agent.reports(object.id, EventStatus::Failure).await;
    it.agent.reports(object.id, EventStatus::Failure).await;
    assert_eq!(it.agent.sequences().await, [object.sequence_id.0]);
    let status = it
        .shop
        .client
        .stack_status(it.stack.id)
        .await
        .unwrap()
        .remove(0);
    assert_eq!((status.phase, status.attempts), (Phase::Failed, 2));
    assert_eq!(status.last_error.as_deref(), Some("no room"));
    it.agent.reports(object.id, EventStatus::Success).await;
    let version = it.agent.target_state().await.version;
    let later = jiff::Timestamp::MAX;
    assert_eq!(
        it.world
            .database
            .forget(Expendable::Events, later, 100)
            .await
            .unwrap(),
        3
    );
    assert_eq!(it.agent.poll(&version, None).await, None);
    let status = it
        .shop
        .client
        .stack_status(it.stack.id)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(
        (status.phase, status.applied),
        (Phase::Applied, Some(object.sequence_id))
    );
}

/// c: the deletion of a stack did not reach agents that were away, or whose generator went too.
#[tokio::test]
async fn c_a_deletion_reaches_agents_that_were_away() {
    let it = Scene::new().await;
    it.submit("one").await;
    it.world.admin.generator_delete(it.shop.id).await.unwrap();
    let marker = it.agent.target_state().await.objects.remove(0);
    assert!(marker.is_deletion_marker);
    it.agent.reports(marker.id, EventStatus::Success).await;
    assert!(it.agent.sequences().await.is_empty());
}

/// d: a generator could move its stack to another tenant.
#[tokio::test]
async fn d_a_stack_cannot_be_moved_to_another_tenant() {
    let world = World::new().await;
    let (shop, bank) = (world.tenant("shop").await, world.tenant("bank").await);
    let stack = shop.stack("web").await;
    let escape = StackUpdate {
        generator_id: Some(bank.id),
        ..StackUpdate::default()
    };
    for client in [&shop.client, &world.admin] {
        let refused = client.stack_update(stack.id, &escape).await.unwrap_err();
        assert_eq!(
            (refused.status(), refused.code()),
            (Some(422), Some("immutable_field"))
        );
    }
    // Clients that send the whole stack back, unchanged but for the name, still work.
    let whole = StackUpdate {
        name: Some("shop-web".parse().unwrap()),
        id: Some(stack.id),
        generator_id: Some(shop.id),
        ..StackUpdate::default()
    };
    let renamed = shop.client.stack_update(stack.id, &whole).await.unwrap();
    assert_eq!(
        (renamed.name.as_str(), renamed.generator_id),
        ("shop-web", shop.id)
    );
}

/// e: a generator could make itself a system generator.
#[tokio::test]
async fn e_a_generator_cannot_make_itself_a_system_generator() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let crown = GeneratorUpdate {
        is_system: Some(true),
        ..GeneratorUpdate::default()
    };
    let refused = shop
        .client
        .generator_update(shop.id, &crown)
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some("immutable_field"));
    let paused = GeneratorUpdate {
        is_active: Some(false),
        ..GeneratorUpdate::default()
    };
    world
        .admin
        .generator_update(shop.id, &paused)
        .await
        .unwrap();
    let back = GeneratorUpdate {
        is_active: Some(true),
        ..GeneratorUpdate::default()
    };
    let refused = shop
        .client
        .generator_update(shop.id, &back)
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some("generator_inactive"));
    world.admin.generator_delete(shop.id).await.unwrap();
}

/// g: any origin was allowed whatever the configuration said. Here no other origin is.
#[tokio::test]
async fn g_other_origins_are_not_let_in() {
    let world = World::new().await;
    let answer = reqwest::Client::new()
        .request(
            http::Method::OPTIONS,
            format!("{}/api/v1/agents", world.address),
        )
        .header("origin", "https://evil.example")
        .header("access-control-request-method", "GET")
        .send()
        .await
        .unwrap();
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
}

/// h: webhooks of events depended on the way the event came. There is one place now.
#[tokio::test]
async fn h_every_event_is_announced() {
    let world = World::new().await;
    let hook: NewWebhook = serde_json::from_value(
        json!({ "name": "all", "url": "http://127.0.0.1:9/", "event_types": ["deployment.*"] }),
    )
    .unwrap();
    let hook = world.admin.webhook_create(&hook).await.unwrap().webhook;
    let shop = world.tenant("shop").await;
    let agent = world.agent("edge", &[&shop]).await;
    let stack = shop.stack("web").await;
    shop.client.target_create(agent.id, stack.id).await.unwrap();
    let object = shop.submit(stack.id, "one").await;
    agent.reports(object.id, EventStatus::Failure).await;
    agent.reports(object.id, EventStatus::Success).await;
    let marker = NewDeployment {
        is_deletion_marker: true,
        ..NewDeployment::default()
    };
    shop.client
        .deployment_create(stack.id, &marker, &Submit::default())
        .await
        .unwrap();
    let all = world
        .admin
        .delivery_list(hook.id, &ListQuery::default())
        .await
        .unwrap()
        .items;
    let told: Vec<_> = all
        .iter()
        .rev()
        .map(|delivery| delivery.event_type)
        .collect();
    let expected = [
        FleetEvent::DeploymentCreated,
        FleetEvent::DeploymentFailed,
        FleetEvent::DeploymentApplied,
        FleetEvent::DeploymentDeleted,
    ];
    assert_eq!(told, expected);
}

/// s: two writers could not tell that they overwrote each other (the tests of the intake), and
/// names of stacks were one space for all tenants.
#[tokio::test]
async fn s_tenants_do_not_share_names() {
    let world = World::new().await;
    let (shop, bank) = (world.tenant("shop").await, world.tenant("bank").await);
    assert_ne!(shop.stack("web").await.id, bank.stack("web").await.id);
}

/// u: nobody was slowed down, however often they tried keys.
#[tokio::test]
async fn u_an_address_that_tries_keys_is_slowed_down() {
    let mut config = crate::world::config();
    config.limits.refusals_per_second = 1;
    let world = World::with(config).await;
    let burglar = world
        .admin
        .with_key("brokkr_BR123456_111111111111111111111111111111");
    let mut statuses = Vec::new();
    for _ in 0..15 {
        statuses.push(burglar.auth_pak().await.unwrap_err().status().unwrap());
    }
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[14], 429);
    assert!(
        world.admin.auth_pak().await.is_ok(),
        "who has a key is not touched"
    );
    let noted = world
        .admin
        .audit_list(Some(Action::AuthFailed), 100)
        .await
        .unwrap();
    assert!((1..15).contains(&noted.count));
}

/// v: a webhook could be aimed at the broker's own neighbourhood.
#[tokio::test]
async fn v_webhooks_do_not_reach_the_neighbourhood() {
    let mut config = crate::world::config();
    config.webhooks.allow_private = false;
    let world = World::with(config).await;
    for url in [
        "http://127.0.0.1/",
        "http://169.254.169.254/",
        "http://[::1]/",
        "file:///etc/passwd",
    ] {
        let hook: NewWebhook =
            serde_json::from_value(json!({ "name": "inside", "url": url, "event_types": ["*"] }))
                .unwrap();
        let refused = world.admin.webhook_create(&hook).await.unwrap_err();
        assert_eq!(refused.code(), Some("invalid_url"), "{url}");
    }
}

/// ac: to compare one checksum, clients downloaded every revision of a stack.
#[tokio::test]
async fn ac_the_newest_checksum_is_one_small_answer() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let stack = shop.stack("web").await;
    shop.submit(stack.id, "one").await;
    let newest = shop.submit(stack.id, &"large ".repeat(1000)).await;
    let seen = shop.client.deployment_newest(stack.id).await.unwrap();
    assert_eq!(
        (seen.yaml_checksum, seen.yaml_content),
        (newest.yaml_checksum, None)
    );
}

/// Changes were audited as the administrator's, or not at all.
#[tokio::test]
async fn the_audit_log_names_the_real_actor() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let agent = world.agent("edge", &[]).await;
    agent
        .client
        .registration_create(shop.id, agent.id)
        .await
        .unwrap();
    let stack = shop.stack("web").await;
    shop.client
        .stack_label_add(stack.id, &"eu".parse().unwrap())
        .await
        .unwrap();
    shop.client.target_create(agent.id, stack.id).await.unwrap();
    shop.submit(stack.id, "one").await;
    shop.client.stack_delete(stack.id).await.unwrap();
    let who = async |action| {
        let line = world
            .admin
            .audit_list(Some(action), 1)
            .await
            .unwrap()
            .logs
            .remove(0);
        assert_eq!(line.ip_address.as_deref(), Some("127.0.0.1"));
        assert!(line.user_agent.unwrap().starts_with("evenkeel/"));
        (line.actor_type, line.actor_id)
    };
    for action in [
        Action::StackCreated,
        Action::StackTagged,
        Action::TargetCreated,
        Action::DeploymentCreated,
        Action::StackDeleted,
    ] {
        assert_eq!(
            who(action).await,
            (ActorKind::Generator, Some(shop.id.0)),
            "{action}"
        );
    }
    assert_eq!(
        who(Action::AgentRegistered).await,
        (ActorKind::Agent, Some(agent.id.0))
    );
    assert_eq!(who(Action::GeneratorCreated).await.0, ActorKind::Admin);
}

/// An over-long label of an agent was an internal error.
#[tokio::test]
async fn an_over_long_label_is_refused_in_words() {
    let world = World::new().await;
    let agent = world.agent("edge", &[]).await;
    let key = &world.broker.first_key().unwrap().key;
    let answer = reqwest::Client::new()
        .post(format!(
            "{}/api/v1/agents/{}/labels",
            world.address, agent.id
        ))
        .bearer_auth(key)
        .json(&json!({ "agent_id": agent.id, "label": "x".repeat(70) }))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 422);
    assert!(
        answer
            .text()
            .await
            .unwrap()
            .contains("a label has 70 characters, 64 are allowed")
    );
}

/// An agent could speak about stacks that are none of its business.
#[tokio::test]
async fn an_agent_reports_only_on_what_it_was_given() {
    let world = World::new().await;
    let (shop, bank) = (world.tenant("shop").await, world.tenant("bank").await);
    let agent = world.agent("edge", &[&shop]).await;
    let stack = bank.stack("vault").await;
    let object = bank.submit(stack.id, "one").await;
    let event = evenkeel_api::NewEvent::of(object.id, EventStatus::Success);
    let refused = agent
        .client
        .event_record(agent.id, &event)
        .await
        .unwrap_err();
    assert_eq!(
        (refused.status(), refused.code()),
        (Some(403), Some("agent_not_associated"))
    );
    let refused = agent.client.deployment_get(object.id).await.unwrap_err();
    assert_eq!(refused.code(), Some("agent_not_associated"));
    let seen = jiff::Timestamp::UNIX_EPOCH;
    let report = ReportedHealth::of(object.id, HealthStatus::Failing, seen);
    let report = HealthReport {
        deployment_objects: vec![report],
    };
    assert_eq!(
        agent
            .client
            .health_report(agent.id, &report)
            .await
            .unwrap_err()
            .status(),
        Some(403)
    );
}

/// A target could name a stack of a tenant that the agent never agreed to serve.
#[tokio::test]
async fn nobody_can_target_an_agent_that_has_not_agreed() {
    let world = World::new().await;
    let (shop, bank) = (world.tenant("shop").await, world.tenant("bank").await);
    let agent = world.agent("edge", &[&shop]).await;
    let stack = bank.stack("vault").await;
    for client in [&bank.client, &world.admin] {
        let refused = client.target_create(agent.id, stack.id).await.unwrap_err();
        assert_eq!(refused.code(), Some("agent_not_registered"));
    }
    let refused = shop
        .client
        .target_create(agent.id, stack.id)
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some("target_generator_mismatch"));
}

/// The overview shows what agents said: health, drift, failures, heartbeats.
#[tokio::test]
async fn the_fleet_overview_tells_how_each_agent_is_doing() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let agent = world.agent("edge", &[&shop]).await;
    let mut objects = Vec::new();
    for name in ["a", "b", "c"] {
        let stack = shop.stack(name).await;
        shop.client.target_create(agent.id, stack.id).await.unwrap();
        objects.push(shop.submit(stack.id, name).await);
    }
    agent.reports(objects[0].id, EventStatus::Success).await;
    agent.reports(objects[1].id, EventStatus::Failure).await;
    let seen = "2026-01-01T00:00:00Z".parse().unwrap();
    let report = ReportedHealth {
        summary: Some(json!({ "pods": 1 })),
        drift: Some("data.text".to_owned()),
        ..ReportedHealth::of(objects[0].id, HealthStatus::Degraded, seen)
    };
    let report = HealthReport {
        deployment_objects: vec![report],
    };
    agent.client.health_report(agent.id, &report).await.unwrap();
    let beat = evenkeel_api::Heartbeat {
        k8s_reachable: Some(true),
        k8s_api_latency_ms: Some(7),
        agent_version: Some("0.1.0".to_owned()),
        kubernetes_version: Some("v1.36.4".to_owned()),
    };
    agent.client.agent_heartbeat(agent.id, &beat).await.unwrap();
    let seen = world.admin.fleet().await.unwrap().remove(0);
    assert_eq!(
        (
            seen.stack_count,
            seen.pending_object_count,
            seen.failed_object_count
        ),
        (3, 2, 1)
    );
    assert_eq!(
        (seen.health_degraded, seen.health_failing, seen.drifted),
        (1, 0, 1)
    );
    assert_eq!(
        (seen.k8s_reachable, seen.k8s_api_latency_ms),
        (Some(true), Some(7))
    );
    assert!(seen.last_heartbeat.is_some() && seen.last_event_at.is_some());
    let shown = world.admin.stack_health(objects[0].stack_id).await.unwrap();
    assert_eq!(shown.overall_status, HealthStatus::Degraded);
    let detail = world.admin.agent_fleet_status(agent.id).await.unwrap();
    assert_eq!(detail.recent_events.len(), 2);
}

/// A paused agent, started again, must find what it is to do; nothing is lost meanwhile.
#[tokio::test]
async fn a_wait_ends_when_an_agent_is_started() {
    let it = Scene::new().await;
    let paused = AgentUpdate {
        status: Some(evenkeel_model::AgentStatus::Inactive),
        ..AgentUpdate::default()
    };
    it.world
        .admin
        .agent_update(it.agent.id, &paused)
        .await
        .unwrap();
    let new = NewDeployment::of(crate::world::manifest("x"));
    it.shop
        .client
        .deployment_create(it.stack.id, &new, &Submit::default())
        .await
        .unwrap();
    let version = it.agent.target_state().await.version;
    let wait = Some(Duration::from_secs(30));
    let (answer, ()) = tokio::join!(
        it.agent.poll(&version, wait),
        it.world
            .set_status(&it.agent, evenkeel_model::AgentStatus::Active)
    );
    assert_eq!(answer.unwrap().objects.len(), 1);
}
