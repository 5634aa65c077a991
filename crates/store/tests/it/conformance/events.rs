//! Events: what agents report.

use evenkeel_model::*;
use evenkeel_store::*;
use jiff::SignedDuration;

use crate::world::{World, event, on_every_database};

on_every_database! {
    a_failure_hides_nothing_and_counts_attempts,
    a_late_success_does_not_undo_a_newer_one,
    a_report_on_a_foreign_stack_is_refused,
    a_confirmation_can_be_repeated,
    forgetting_events_changes_nothing_that_is_served,
    an_event_that_is_told_twice_happened_once,
    what_was_done_to_each_object_is_kept,
}

async fn a_failure_hides_nothing_and_counts_attempts(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    for attempts in 1..=3 {
        w.report(agent, &object, EventStatus::Failure).await;
        let assignment = w.assignment(agent, stack).await;
        assert_eq!(assignment.phase(), Phase::Failed);
        assert_eq!(assignment.observed.attempts, attempts);
        assert_eq!(assignment.observed.last_error.as_deref(), Some("it broke"));
        assert_eq!(
            w.served(agent).await,
            [(stack, Order::Serve, Some(object.clone()))]
        );
    }
    w.report(agent, &object, EventStatus::Success).await;
    let assignment = w.assignment(agent, stack).await;
    assert_eq!(assignment.phase(), Phase::Applied);
    assert_eq!(
        (assignment.observed.attempts, assignment.observed.last_error),
        (0, None)
    );
}

async fn a_late_success_does_not_undo_a_newer_one(w: World) {
    let (_, agent, stack, first) = w.small_fleet().await;
    let second = w.submit(stack, "kind: Two").await;
    w.report(agent, &second, EventStatus::Success).await;
    w.report(agent, &first, EventStatus::Success).await;
    let assignment = w.assignment(agent, stack).await;
    assert_eq!(assignment.observed.applied, Some(second.sequence_id));
    assert_eq!(assignment.phase(), Phase::Applied);
}

async fn a_report_on_a_foreign_stack_is_refused(w: World) {
    let (_, _, _, object) = w.small_fleet().await;
    let stranger = w.agent("stranger", &[]).await;
    let refused = w
        .store
        .event_record(event(stranger, &object, EventStatus::Success))
        .await;
    assert!(
        matches!(refused, Err(Error::NotAssigned { .. })),
        "{refused:?}"
    );
    let all = w
        .store
        .event_list(EventFilter::default(), Paging::ALL)
        .await
        .unwrap();
    assert_eq!(all.items, []);
}

async fn a_confirmation_can_be_repeated(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    w.store.stack_delete(&w.by, stack).await.unwrap();
    let marker = w.served(agent).await[0].2.clone().unwrap();
    w.report(agent, &marker, EventStatus::Success).await;
    w.report(agent, &marker, EventStatus::Success).await;
    assert_eq!(w.served(agent).await, []);
}

async fn forgetting_events_changes_nothing_that_is_served(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    for _ in 0..5 {
        w.report(agent, &object, EventStatus::Success).await;
    }
    let before = w.store.assignment_snapshot().await.unwrap();
    let filter = EventFilter {
        stack: Some(stack),
        ..Default::default()
    };
    let events = w.store.event_list(filter, Paging::first(2)).await.unwrap();
    assert!(events.next.is_some());
    let one = w.store.event_get(events.items[0].id).await.unwrap();
    assert_eq!(one.as_ref(), Some(&events.items[0]));
    w.clock.advance(SignedDuration::from_hours(1));
    let now = evenkeel_ambient::Clock::now(&w.clock);
    assert_eq!(w.store.forget(Expendable::Events, now, 3).await.unwrap(), 3);
    assert_eq!(w.store.forget(Expendable::Events, now, 3).await.unwrap(), 2);
    assert_eq!(w.store.forget(Expendable::Events, now, 3).await.unwrap(), 0);
    assert_eq!(w.store.assignment_snapshot().await.unwrap(), before);
    assert_eq!(w.assignment(agent, stack).await.phase(), Phase::Applied);
}

async fn an_event_that_is_told_twice_happened_once(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    let named = || NewEvent {
        id: Some(EventId(uuid::Uuid::from_u128(7))),
        ..event(agent, &object, EventStatus::Failure)
    };
    let first = w.store.event_record(named()).await.unwrap();
    let again = w.store.event_record(named()).await.unwrap();
    assert_eq!(first, again);
    assert_eq!(w.assignment(agent, stack).await.observed.attempts, 1);
    let all = w
        .store
        .event_list(EventFilter::default(), Paging::ALL)
        .await;
    assert_eq!(all.unwrap().items.len(), 1);
    let next = w.submit(stack, "kind: Two").await;
    let reused = NewEvent {
        deployment_object_id: next.id,
        ..named()
    };
    let refused = w.store.event_record(reused).await;
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
}

async fn what_was_done_to_each_object_is_kept(w: World) {
    let (_, agent, _, object) = w.small_fleet().await;
    let change = ObjectChange {
        object: ObjectKey {
            group: String::new(),
            kind: "ConfigMap".to_owned(),
            namespace: Some("shop".to_owned()),
            name: "web".to_owned(),
        },
        action: ObjectAction::Held,
        reason: Some("the brake".to_owned()),
    };
    let told = NewEvent {
        attempted_at: Some(evenkeel_ambient::Clock::now(&w.clock)),
        changes: vec![change],
        change_counts: ChangeCounts::from([(ObjectAction::Held, 1), (ObjectAction::Created, 900)]),
        ..event(agent, &object, EventStatus::Success)
    };
    let recorded = w.store.event_record(told.clone()).await.unwrap();
    let kept = w.store.event_get(recorded.id).await.unwrap().unwrap();
    assert_eq!(kept, recorded);
    assert_eq!(
        (kept.changes, kept.change_counts),
        (told.changes, told.change_counts)
    );
    assert_eq!(kept.attempted_at, told.attempted_at);
}
