//! The audit log.

use evenkeel_model::*;
use evenkeel_store::*;

use crate::world::{World, name, on_every_database};

on_every_database! {
    every_change_is_audited_with_its_real_actor,
    a_refused_change_leaves_no_trace,
}

async fn every_change_is_audited_with_its_real_actor(w: World) {
    let (generator, _, stack, object) = w.small_fleet().await;
    let actor = Actor {
        ip_address: Some("192.0.2.7".into()),
        user_agent: Some("kubectl".into()),
        ..Actor::generator(generator)
    };
    w.store
        .deployment_submit(&actor, NewRevision::of(stack, "kind: Two"))
        .await
        .unwrap();
    w.store.stack_delete(&actor, stack).await.unwrap();
    let filter = AuditFilter {
        resource_id: Some(stack.0),
        ..Default::default()
    };
    let log = w.store.audit_list(filter, Paging::ALL).await.unwrap().items;
    let lines: Vec<_> = log
        .iter()
        .map(|line| (line.action, line.actor.clone()))
        .collect();
    let expected = [
        (Action::StackDeleted, actor.clone()),
        (Action::DeploymentCreated, actor),
        (Action::DeploymentCreated, w.by.clone()),
        (Action::StackCreated, w.by.clone()),
    ];
    assert_eq!(lines, expected);
    let sequence = serde_json::json!(object.sequence_id);
    assert_eq!(log[2].details.as_ref().unwrap()["sequence_id"], sequence);
}

async fn a_refused_change_leaves_no_trace(w: World) {
    let (generator_id, ..) = w.small_fleet().await;
    let trace = async || {
        let audit = w
            .store
            .audit_list(AuditFilter::default(), Paging::ALL)
            .await
            .unwrap();
        (audit.items.len(), *w.store.change_newest().borrow())
    };
    let before = trace().await;
    // Together with one that succeeds, so that they may share a transaction.
    let twin = || NewStack {
        name: name("shop"),
        description: None,
        generator_id,
    };
    let (one, two, three) = tokio::join!(
        w.store.stack_create(&w.by, twin()),
        w.store.stack_create(
            &w.by,
            NewStack {
                name: name("new"),
                description: None,
                generator_id
            }
        ),
        w.store.stack_create(&w.by, twin()),
    );
    assert!(one.is_err() && two.is_ok() && three.is_err());
    assert_eq!(trace().await, (before.0 + 1, before.1.next()));
}
