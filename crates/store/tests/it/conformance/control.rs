//! Control: what people ask for of a stack beyond its revisions.

use evenkeel_model::*;
use evenkeel_store::*;

use crate::world::{World, on_every_database};

on_every_database! {
    a_suspension_names_who_and_when_until_it_ends,
    every_request_to_look_anew_counts,
    only_what_waits_can_be_approved,
    a_named_object_can_be_approved_beforehand,
    a_stack_says_what_becomes_of_drift_until_it_is_left_to_the_agents,
    a_deleted_stack_can_still_be_controlled,
    control_is_audited_and_announced_once,
}

async fn asked(w: &World, stack: StackId, request: ControlRequest) -> Result<Control> {
    let stack = w.store.stack_control(&w.by, stack, request).await?;
    Ok(stack.control)
}

async fn waits(w: &World, agent: AgentId, object: &ObjectRef, why: Option<&str>) {
    let now = evenkeel_ambient::Clock::now(&w.clock);
    let report = Report {
        waiting: why.map(str::to_owned),
        ..Report::of(object.id, HealthStatus::Unknown, now)
    };
    w.store.health_report(agent, vec![report]).await.unwrap();
}

async fn a_suspension_names_who_and_when_until_it_ends(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    let suspended = asked(&w, stack, ControlRequest::Suspend).await.unwrap();
    assert!(suspended.suspended && suspended.suspended_at.is_some());
    assert_eq!(suspended.suspended_by.as_deref(), Some("admin"));
    assert_eq!(w.assignment(agent, stack).await.control, suspended);
    let stored = w.store.stack_get(stack).await.unwrap().unwrap();
    assert_eq!(stored.control, suspended);
    let again = asked(&w, stack, ControlRequest::Suspend).await.unwrap();
    assert_eq!(again, suspended, "who was first stays");
    let resumed = asked(&w, stack, ControlRequest::Resume).await.unwrap();
    assert_eq!(resumed, Control::default());
    assert_eq!(w.assignment(agent, stack).await.control, resumed);
}

async fn every_request_to_look_anew_counts(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    for count in 1..=3 {
        let control = asked(&w, stack, ControlRequest::Reconcile).await.unwrap();
        assert_eq!(control.reconcile_token, ReconcileToken(count));
    }
    let served = w.assignment(agent, stack).await.served_control();
    assert_eq!(served.reconcile_token, ReconcileToken(3));
}

async fn only_what_waits_can_be_approved(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    let refused = asked(&w, stack, ControlRequest::Approve(None)).await;
    assert!(
        matches!(refused, Err(Error::NothingWaits(_))),
        "{refused:?}"
    );
    waits(&w, agent, &object, Some("would delete 12 of 20 objects")).await;
    let approved = asked(&w, stack, ControlRequest::Approve(None)).await;
    assert_eq!(
        approved.unwrap().approved_sequence,
        Some(object.sequence_id)
    );
    assert!(w.assignment(agent, stack).await.served_control().approved);
    let next = w.submit(stack, "kind: Two").await;
    let served = w.assignment(agent, stack).await;
    assert!(!served.served_control().approved, "the next one asks anew");
    assert_eq!(served.desired(), Some(next.sequence_id));
    w.report(agent, &next, EventStatus::Success).await;
    assert_eq!(w.assignment(agent, stack).await.observed.waiting, None);
}

async fn a_stack_says_what_becomes_of_drift_until_it_is_left_to_the_agents(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    for mode in [Some(DriftMode::Warn), Some(DriftMode::Off), None] {
        let control = asked(&w, stack, ControlRequest::Drift(mode)).await.unwrap();
        assert_eq!(control.drift, mode);
        let served = w.assignment(agent, stack).await.served_control();
        assert_eq!(served.drift, mode);
    }
}

async fn a_named_object_can_be_approved_beforehand(w: World) {
    let (_, _, stack, first) = w.small_fleet().await;
    let second = w.submit(stack, "kind: Two").await;
    let approve = |object: &ObjectRef| ControlRequest::Approve(Some(object.sequence_id));
    let overtaken = asked(&w, stack, approve(&first)).await;
    assert!(
        matches!(overtaken, Err(Error::NothingWaits(_))),
        "{overtaken:?}"
    );
    let approved = asked(&w, stack, approve(&second)).await.unwrap();
    assert_eq!(approved.approved_sequence, Some(second.sequence_id));
}

async fn a_deleted_stack_can_still_be_controlled(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    w.store.stack_delete(&w.by, stack).await.unwrap();
    let marker = w.assignment(agent, stack).await.wanted.unwrap();
    waits(
        &w,
        agent,
        &marker,
        Some("a namespace holds foreign objects"),
    )
    .await;
    let approved = asked(&w, stack, ControlRequest::Approve(None)).await;
    assert_eq!(
        approved.unwrap().approved_sequence,
        Some(marker.sequence_id)
    );
    assert!(w.assignment(agent, stack).await.served_control().approved);
}

async fn control_is_audited_and_announced_once(w: World) {
    let (_, _, stack, _) = w.small_fleet().await;
    for _ in 0..2 {
        asked(&w, stack, ControlRequest::Suspend).await.unwrap();
    }
    let lines = AuditFilter {
        action: Some(Action::StackSuspended),
        ..AuditFilter::default()
    };
    assert_eq!(w.store.audit_count(lines).await.unwrap(), 1);
}
