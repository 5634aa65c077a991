//! Health, drift and signs of life.

use evenkeel_model::*;
use evenkeel_store::*;
use jiff::{SignedDuration, Timestamp};

use crate::world::{World, on_every_database};

on_every_database! {
    health_is_kept_by_newest_word,
    heartbeats_only_move_forward,
    drift_is_kept_once_and_bounded,
    a_stacks_status_tells_how_each_agent_is_doing,
}

async fn health_is_kept_by_newest_word(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    w.report(agent, &object, EventStatus::Success).await;
    let now = evenkeel_ambient::Clock::now(&w.clock);
    let report = |status, seconds: i64, drift: Option<&str>| Report {
        summary: Some(serde_json::json!({ "pods": 3 })),
        drift: drift.map(str::to_owned),
        ..Report::of(object.id, status, now + SignedDuration::from_secs(seconds))
    };
    let degraded = report(HealthStatus::Degraded, 10, Some("replicas: 3 -> 5"));
    w.store.health_report(agent, vec![degraded]).await.unwrap();
    w.store
        .health_report(agent, vec![report(HealthStatus::Healthy, 5, None)])
        .await
        .unwrap();
    let observed = w.assignment(agent, stack).await.observed;
    assert_eq!(observed.health, Some(HealthStatus::Degraded));
    assert_eq!(observed.drift.as_deref(), Some("replicas: 3 -> 5"));
    w.store
        .health_report(agent, vec![report(HealthStatus::Healthy, 20, None)])
        .await
        .unwrap();
    assert_eq!(w.assignment(agent, stack).await.observed.drift, None);
    let of_stack = w.store.health_of_stack(stack).await.unwrap();
    assert_eq!(
        of_stack,
        w.store.health_of_deployment(object.id).await.unwrap()
    );
    assert_eq!(of_stack[0].summary, Some(serde_json::json!({ "pods": 3 })));
}

async fn heartbeats_only_move_forward(w: World) {
    let (_, agent, _, _) = w.small_fleet().await;
    let now = evenkeel_ambient::Clock::now(&w.clock);
    let beat = |seconds: i64, reachable| Heartbeat {
        agent_id: agent,
        at: now + SignedDuration::from_secs(seconds),
        k8s_reachable: reachable,
        k8s_api_latency_ms: None,
        agent_version: reachable.map(|_| "0.1.0".to_owned()),
        kubernetes_version: None,
    };
    let beats = [beat(20, Some(true)), beat(10, Some(false)), beat(30, None)];
    w.store.heartbeats_record(&beats).await.unwrap();
    let agent = w.store.agent_get(agent).await.unwrap().unwrap();
    assert_eq!(agent.last_heartbeat, Some(beats[2].at));
    assert_eq!(
        (agent.k8s_reachable, agent.k8s_reported_at),
        (Some(true), Some(beats[0].at))
    );
    assert_eq!(agent.agent_version.as_deref(), Some("0.1.0"));
}

fn key(name: &str) -> ObjectKey {
    ObjectKey {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: Some("shop".to_owned()),
        name: name.to_owned(),
    }
}

fn drift(name: &str, at: Timestamp, repaired: bool) -> DriftRecord {
    DriftRecord {
        object: key(name),
        fields: vec!["spec.replicas".to_owned()],
        manager: Some("kubectl".to_owned()),
        at,
        mode: DriftMode::Enforce,
        repaired,
    }
}

async fn drift_is_kept_once_and_bounded(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    let now = evenkeel_ambient::Clock::now(&w.clock);
    let tell = async |records: Vec<DriftRecord>| {
        let report = Report {
            drift_records: records,
            ..Report::of(object.id, HealthStatus::Healthy, now)
        };
        w.store.health_report(agent, vec![report]).await.unwrap();
    };
    let filter = DriftFilter {
        agent: Some(agent),
        stack: Some(stack),
    };
    let list = async || w.store.drift_list(filter, Paging::ALL).await.unwrap().items;
    tell(vec![drift("web", now, false)]).await;
    tell(vec![drift("web", now, true)]).await;
    let found = list().await;
    assert_eq!(found.len(), 1, "one finding, told twice");
    assert!(found[0].record.repaired, "the last word counts");
    for second in 1..=120 {
        let at = now + SignedDuration::from_secs(second);
        tell(vec![drift("web", at, true)]).await;
    }
    let found = list().await;
    assert_eq!(found.len(), 100);
    assert_eq!(found[0].record.at, now + SignedDuration::from_secs(120));
    for filter in [
        DriftFilter {
            agent: None,
            ..filter
        },
        DriftFilter {
            stack: None,
            ..filter
        },
        DriftFilter::default(),
    ] {
        let page = w.store.drift_list(filter, Paging::first(3)).await.unwrap();
        assert_eq!((page.items.len(), page.next.is_some()), (3, true));
    }
}

async fn a_stacks_status_tells_how_each_agent_is_doing(w: World) {
    let (generator, east, stack, object) = w.small_fleet().await;
    let west = w.agent("west", &[generator]).await;
    w.target(west, stack).await;
    let now = evenkeel_ambient::Clock::now(&w.clock);
    let health = ObjectHealth {
        object: key("web"),
        status: HealthStatus::Degraded,
        reason: Some("1 of 3 pods ready".to_owned()),
        since: Some(now),
    };
    let report = Report {
        objects: vec![health.clone()],
        drift_records: vec![drift("web", now, false)],
        waiting: Some("for its image".to_owned()),
        ..Report::of(object.id, HealthStatus::Degraded, now)
    };
    w.store.health_report(east, vec![report]).await.unwrap();
    let first = w
        .store
        .status_of_stack(stack, Paging::first(1))
        .await
        .unwrap();
    let told = &first.items[0];
    assert_eq!(told.assignment, w.assignment(east, stack).await);
    assert_eq!(
        told.assignment.observed.waiting.as_deref(),
        Some("for its image")
    );
    assert_eq!(
        (&told.objects, &told.drift_records),
        (&vec![health], &vec![drift("web", now, false)])
    );
    let of_agent = w.store.status_of_agent(east).await.unwrap();
    assert_eq!(of_agent, first.items, "the same, asked from the other side");
    let rest = Paging {
        after: first.next,
        limit: None,
    };
    let rest = w.store.status_of_stack(stack, rest).await.unwrap();
    assert_eq!(rest.items.len(), 1);
    assert_eq!(
        (
            rest.items[0].assignment.agent_id,
            rest.items[0].objects.len()
        ),
        (west, 0)
    );
}
