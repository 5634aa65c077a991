//! The promises of every trait, on every database.

use std::time::Duration;

use evenkeel_model::*;
use evenkeel_store::*;
use jiff::SignedDuration;

use crate::world::{World, event, label, name, on_every_database};

on_every_database! {
    names_are_unique_while_alive_and_free_after_deletion,
    a_violation_names_its_constraint,
    a_missing_reference_names_its_constraint,
    an_update_changes_only_what_it_names,
    the_system_generator_cannot_be_deleted,
    lists_are_paged_without_gap_or_repetition,
    lists_are_filtered,
    a_revision_has_checksum_and_sequence,
    the_same_content_again_is_a_new_revision_but_one_text,
    a_submission_on_a_stale_view_is_refused_with_both_ids,
    an_idempotency_key_gives_the_same_object_again,
    a_target_needs_the_agents_consent,
    labels_and_annotations_assign_within_the_tenant_only,
    a_removed_target_is_released_until_confirmed,
    a_target_that_is_also_a_label_match_stays,
    a_deleted_stack_is_served_as_a_marker_until_each_agent_confirmed,
    a_released_stack_that_is_deleted_is_still_confirmed_once,
    a_deleted_generator_deletes_its_stacks_for_offline_agents,
    deregistration_releases_everything_of_that_generator,
    a_target_that_comes_back_is_served_again,
    a_failure_hides_nothing_and_counts_attempts,
    a_late_success_does_not_undo_a_newer_one,
    a_report_on_a_foreign_stack_is_refused,
    a_confirmation_can_be_repeated,
    forgetting_events_changes_nothing_that_is_served,
    health_is_kept_by_newest_word,
    heartbeats_only_move_forward,
    every_change_is_audited_with_its_real_actor,
    a_refused_change_leaves_no_trace,
    keys_rotate_in_one_step,
    deleting_the_bearer_revokes_its_keys,
    webhooks_hear_of_events_whatever_way_they_came,
    deliveries_stay_in_order_and_are_leased,
    a_lost_lease_cannot_finish_a_delivery,
    a_dead_delivery_can_be_replayed,
    leases_pass_on_only_when_they_end,
    a_deleted_agent_leaves_no_obligations,
}

async fn names_are_unique_while_alive_and_free_after_deletion(w: World) {
    let (generator, agent, stack, _) = w.small_fleet().await;
    let other = w.generator("other").await;
    w.stack(other, "shop").await;
    w.store.stack_delete(&w.by, stack).await.unwrap();
    w.stack(generator, "shop").await;
    w.store.agent_delete(&w.by, agent).await.unwrap();
    w.agent("east", &[]).await;
    w.store.generator_delete(&w.by, generator).await.unwrap();
    w.generator("ci").await;
}

async fn a_violation_names_its_constraint(w: World) {
    let (generator_id, agent, stack, _) = w.small_fleet().await;
    let twin = NewStack {
        name: name("shop"),
        description: None,
        generator_id,
    };
    let refused = [
        (
            w.store.stack_create(&w.by, twin).await.map(drop),
            "stacks_generator_id_name_key",
        ),
        (
            w.store.target_create(&w.by, agent, stack).await.map(drop),
            "targets_agent_id_stack_id_key",
        ),
        (
            w.store
                .registration_create(&w.by, agent, generator_id)
                .await
                .map(drop),
            "registrations_agent_id_generator_id_key",
        ),
    ];
    for (result, expected) in refused {
        let Err(Error::Conflict { constraint }) = result else {
            panic!("{expected}: {result:?}")
        };
        assert_eq!(constraint, expected);
    }
}

async fn a_missing_reference_names_its_constraint(w: World) {
    let (generator, agent, stack, _) = w.small_fleet().await;
    w.store.generator_delete(&w.by, generator).await.unwrap();
    let orphan = NewStack {
        name: name("x"),
        description: None,
        generator_id: generator,
    };
    let refused = [
        (
            w.store.stack_create(&w.by, orphan).await.map(drop),
            "stacks_generator_id_fkey",
        ),
        (
            w.store
                .registration_create(&w.by, agent, generator)
                .await
                .map(drop),
            "registrations_generator_id_fkey",
        ),
        (
            w.store.target_create(&w.by, agent, stack).await.map(drop),
            "targets_stack_id_fkey",
        ),
    ];
    for (result, expected) in refused {
        let Err(Error::MissingReference { constraint }) = result else {
            panic!("{result:?}")
        };
        assert_eq!(constraint, expected);
    }
}

async fn an_update_changes_only_what_it_names(w: World) {
    let (generator, agent, stack, _) = w.small_fleet().await;
    let update = StackUpdate {
        description: Some(Some("the shop".into())),
        ..Default::default()
    };
    let before = w.store.stack_get(stack).await.unwrap().unwrap();
    w.clock.advance(SignedDuration::from_secs(1));
    let after = w.store.stack_update(&w.by, stack, update).await.unwrap();
    assert_eq!(w.store.stack_get(stack).await.unwrap().unwrap(), after);
    let expected = Stack {
        description: Some("the shop".into()),
        updated_at: after.updated_at,
        ..before.clone()
    };
    assert_eq!(after, expected);
    assert!(after.updated_at > before.updated_at);

    let update = AgentUpdate {
        status: Some(AgentStatus::Active),
        ..Default::default()
    };
    let active = w.store.agent_update(&w.by, agent, update).await.unwrap();
    assert_eq!(
        (active.status, active.name.as_str()),
        (AgentStatus::Active, "east")
    );

    let update = GeneratorUpdate {
        is_active: Some(false),
        ..Default::default()
    };
    let paused = w
        .store
        .generator_update(&w.by, generator, update)
        .await
        .unwrap();
    assert_eq!((paused.is_active, paused.is_system), (false, false));
    assert_eq!(
        w.store.generator_get(generator).await.unwrap().unwrap(),
        paused
    );
}

async fn the_system_generator_cannot_be_deleted(w: World) {
    let new = NewGenerator {
        name: name("__system__"),
        description: None,
        is_system: true,
    };
    let system = w.store.generator_create(&w.by, new, None).await.unwrap().id;
    let refused = w.store.generator_delete(&w.by, system).await;
    assert!(matches!(refused, Err(Error::SystemGenerator(id)) if id == system));
}

async fn lists_are_paged_without_gap_or_repetition(w: World) {
    let generator = w.generator("ci").await;
    let mut stacks = Vec::new();
    for number in 0..7 {
        stacks.push(w.stack(generator, &format!("s{number}")).await);
    }
    let first = w
        .store
        .stack_list(StackFilter::default(), Paging::first(3))
        .await
        .unwrap();
    // Rows that come and go between pages disturb nothing.
    w.store.stack_delete(&w.by, stacks[0]).await.unwrap();
    w.store.stack_delete(&w.by, stacks[2]).await.unwrap();
    w.stack(generator, "late").await;
    let mut seen: Vec<_> = first.items.iter().map(|stack| stack.id).collect();
    let mut next = first.next;
    while let Some(cursor) = next {
        let paging = Paging::first(3).after(cursor);
        let page = w
            .store
            .stack_list(StackFilter::default(), paging)
            .await
            .unwrap();
        seen.extend(page.items.iter().map(|stack| stack.id));
        next = page.next;
    }
    assert_eq!(seen[..7], stacks[..]);
    assert_eq!(seen.len(), 8);
    let all = w
        .store
        .stack_list(StackFilter::default(), Paging::ALL)
        .await
        .unwrap();
    assert_eq!((all.items.len(), all.next), (6, None));
}

async fn lists_are_filtered(w: World) {
    let (generator, agent, stack, _) = w.small_fleet().await;
    let other = w.generator("other").await;
    let foreign = w.stack(other, "shop").await;
    w.store
        .label_add(&w.by, Owner::Stack(foreign), label("blue"))
        .await
        .unwrap();
    let ids = async |filter: StackFilter| {
        let page = w.store.stack_list(filter, Paging::ALL).await.unwrap();
        page.items
            .into_iter()
            .map(|stack| stack.id)
            .collect::<Vec<_>>()
    };
    let by_name = StackFilter {
        name: Some(name("shop")),
        ..Default::default()
    };
    assert_eq!(ids(by_name).await, [stack, foreign]);
    let by_label = StackFilter {
        label: Some(label("blue")),
        ..Default::default()
    };
    assert_eq!(ids(by_label).await, [foreign]);
    let by_owner = StackFilter {
        generator: Some(generator),
        ..Default::default()
    };
    assert_eq!(ids(by_owner).await, [stack]);
    let agents = AgentFilter {
        generator: Some(other),
        ..Default::default()
    };
    assert!(
        w.store
            .agent_list(agents, Paging::ALL)
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let agents = AgentFilter {
        generator: Some(generator),
        ..Default::default()
    };
    assert_eq!(
        w.store.agent_list(agents, Paging::ALL).await.unwrap().items[0].id,
        agent
    );
    let found = w
        .store
        .agent_find(&name("east"), &name("cluster"))
        .await
        .unwrap();
    assert_eq!(found.unwrap().id, agent);
    assert_eq!(
        w.store
            .generator_list(Some("ci"), Paging::ALL)
            .await
            .unwrap()
            .items
            .len(),
        1
    );
}

async fn a_revision_has_checksum_and_sequence(w: World) {
    let (_, _, stack, first) = w.small_fleet().await;
    let text = "kind: Zwei # ä\r\n";
    let second = w.submit(stack, text).await;
    assert_eq!(second.sequence_id, first.sequence_id.next());
    assert_eq!(second.yaml_checksum, Checksum::of(text));
    let whole = w.store.deployment_get(second.id).await.unwrap().unwrap();
    assert_eq!(
        (whole.object, whole.yaml_content.as_str()),
        (second.clone(), text)
    );
    assert_eq!(
        w.store.deployment_newest(stack).await.unwrap().unwrap(),
        second
    );
    let newest = w
        .store
        .stack_get(stack)
        .await
        .unwrap()
        .unwrap()
        .newest_sequence_id;
    assert_eq!(newest, Some(second.sequence_id));
    let refs = w
        .store
        .deployment_refs(stack, Paging::ALL)
        .await
        .unwrap()
        .items;
    assert_eq!(refs, [second, first]);
}

async fn the_same_content_again_is_a_new_revision_but_one_text(w: World) {
    let (_, agent, stack, first) = w.small_fleet().await;
    w.report(agent, &first, EventStatus::Success).await;
    let again = w.submit(stack, "kind: One").await;
    assert!(again.sequence_id > first.sequence_id && again.id != first.id);
    assert_eq!(again.yaml_checksum, first.yaml_checksum);
    let text = w.store.manifest_get(&again.yaml_checksum).await.unwrap();
    assert_eq!(text.as_deref(), Some("kind: One"));
    assert_eq!(w.assignment(agent, stack).await.phase(), Phase::Pending);
}

async fn a_submission_on_a_stale_view_is_refused_with_both_ids(w: World) {
    let (_, _, stack, first) = w.small_fleet().await;
    let second = w.submit(stack, "kind: Two").await;
    let on = |seen| NewRevision {
        if_newest: Some(seen),
        ..NewRevision::of(stack, "kind: Three")
    };
    for seen in [None, Some(first.sequence_id)] {
        let refused = w.store.deployment_submit(&w.by, on(seen)).await;
        let Err(Error::Stale {
            expected, newest, ..
        }) = refused
        else {
            panic!("{refused:?}")
        };
        assert_eq!((expected, newest), (seen, Some(second.sequence_id)));
    }
    w.store
        .deployment_submit(&w.by, on(Some(second.sequence_id)))
        .await
        .unwrap();
}

async fn an_idempotency_key_gives_the_same_object_again(w: World) {
    let (_, _, stack, _) = w.small_fleet().await;
    let keyed = |text: &str| NewRevision {
        idempotency_key: Some("build-7".into()),
        ..NewRevision::of(stack, text)
    };
    let first = w
        .store
        .deployment_submit(&w.by, keyed("kind: Two"))
        .await
        .unwrap();
    w.submit(stack, "kind: Three").await;
    let again = w
        .store
        .deployment_submit(&w.by, keyed("kind: Two"))
        .await
        .unwrap();
    assert_eq!(
        (again.object, again.replayed, first.replayed),
        (first.object, true, false)
    );
    let misused = w.store.deployment_submit(&w.by, keyed("kind: Other")).await;
    assert!(
        matches!(misused, Err(Error::KeyReused { .. })),
        "{misused:?}"
    );
    assert_eq!(
        w.store
            .deployment_refs(stack, Paging::ALL)
            .await
            .unwrap()
            .items
            .len(),
        3
    );
}

async fn a_target_needs_the_agents_consent(w: World) {
    let (_, agent, _, _) = w.small_fleet().await;
    let stranger = w.generator("stranger").await;
    let stack = w.stack(stranger, "parasite").await;
    let refused = w.store.target_create(&w.by, agent, stack).await;
    assert!(
        matches!(refused, Err(Error::NotRegistered { .. })),
        "{refused:?}"
    );
    w.store
        .registration_create(&w.by, agent, stranger)
        .await
        .unwrap();
    w.target(agent, stack).await;
    assert_eq!(w.store.targets_of_agent(agent).await.unwrap().len(), 2);
}

async fn labels_and_annotations_assign_within_the_tenant_only(w: World) {
    let generator = w.generator("ci").await;
    let stranger = w.generator("stranger").await;
    let agent = w.agent("east", &[generator]).await;
    let blue = w.stack(generator, "blue").await;
    let tier = w.stack(generator, "tier").await;
    let foreign = w.stack(stranger, "foreign").await;
    let front = Annotation {
        key: "tier".parse().unwrap(),
        value: "front".parse().unwrap(),
    };
    let back = Annotation {
        key: "tier".parse().unwrap(),
        value: "back".parse().unwrap(),
    };
    w.store
        .label_add(&w.by, Owner::Stack(blue), label("blue"))
        .await
        .unwrap();
    w.store
        .label_add(&w.by, Owner::Stack(foreign), label("blue"))
        .await
        .unwrap();
    w.store
        .annotation_add(&w.by, Owner::Stack(tier), front.clone())
        .await
        .unwrap();
    w.store
        .label_add(&w.by, Owner::Agent(agent), label("blue"))
        .await
        .unwrap();
    w.store
        .annotation_add(&w.by, Owner::Agent(agent), back)
        .await
        .unwrap();
    assert_eq!(w.served(agent).await, [(blue, Order::Serve, None)]);
    let key: AnnotationKey = "tier".parse().unwrap();
    w.store
        .annotation_remove(&w.by, Owner::Agent(agent), key)
        .await
        .unwrap();
    w.store
        .annotation_add(&w.by, Owner::Agent(agent), front.clone())
        .await
        .unwrap();
    let stacks: Vec<_> = w
        .served(agent)
        .await
        .into_iter()
        .map(|(stack, ..)| stack)
        .collect();
    assert!(stacks.contains(&blue) && stacks.contains(&tier) && !stacks.contains(&foreign));
    assert_eq!(
        w.store.labels(Owner::Agent(agent)).await.unwrap(),
        [label("blue")]
    );
    assert_eq!(
        w.store.annotations(Owner::Stack(tier)).await.unwrap(),
        [front]
    );
    let gone = w
        .store
        .label_remove(&w.by, Owner::Agent(agent), label("green"))
        .await;
    assert!(
        matches!(gone, Err(Error::NotFound { noun: "label", .. })),
        "{gone:?}"
    );
}

async fn a_removed_target_is_released_until_confirmed(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    w.report(agent, &object, EventStatus::Success).await;
    let steady = w.agent("west", &[]).await;
    let generator = w
        .store
        .stack_get(stack)
        .await
        .unwrap()
        .unwrap()
        .generator_id;
    w.store
        .registration_create(&w.by, steady, generator)
        .await
        .unwrap();
    w.target(steady, stack).await;
    w.store.target_delete(&w.by, agent, stack).await.unwrap();

    let served = w.served(agent).await;
    let [(_, Order::Release, Some(tombstone))] = &served[..] else {
        panic!("{served:?}")
    };
    assert!(tombstone.sequence_id > object.sequence_id && tombstone.kind.removes());
    // Others go on with the newest revision, and the history shows no tombstone.
    assert_eq!(
        w.served(steady).await,
        [(stack, Order::Serve, Some(object.clone()))]
    );
    assert_eq!(
        w.store.deployment_newest(stack).await.unwrap().unwrap(),
        object
    );
    assert_eq!(
        w.store
            .deployment_refs(stack, Paging::ALL)
            .await
            .unwrap()
            .items
            .len(),
        1
    );

    w.report(agent, tombstone, EventStatus::Failure).await;
    w.report(agent, &object, EventStatus::Success).await;
    assert_eq!(
        w.served(agent).await.len(),
        1,
        "neither failure nor another object confirms"
    );
    w.report(agent, tombstone, EventStatus::Success).await;
    assert_eq!(w.served(agent).await, []);
}

async fn a_target_that_is_also_a_label_match_stays(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    w.store
        .label_add(&w.by, Owner::Agent(agent), label("blue"))
        .await
        .unwrap();
    w.store
        .label_add(&w.by, Owner::Stack(stack), label("blue"))
        .await
        .unwrap();
    w.store.target_delete(&w.by, agent, stack).await.unwrap();
    assert_eq!(w.served(agent).await, [(stack, Order::Serve, Some(object))]);
    w.store
        .label_remove(&w.by, Owner::Stack(stack), label("blue"))
        .await
        .unwrap();
    assert_eq!(w.served(agent).await[0].1, Order::Release);
}

async fn a_deleted_stack_is_served_as_a_marker_until_each_agent_confirmed(w: World) {
    let (generator, east, stack, object) = w.small_fleet().await;
    let west = w.agent("west", &[generator]).await;
    w.target(west, stack).await;
    w.store.stack_delete(&w.by, stack).await.unwrap();
    assert_eq!(w.store.stack_get(stack).await.unwrap(), None);

    let served = w.served(east).await;
    let [(_, Order::Delete, Some(marker))] = &served[..] else {
        panic!("{served:?}")
    };
    assert_eq!(
        (marker.kind, &marker.yaml_checksum),
        (ObjectKind::Deletion, &Checksum::of(""))
    );
    assert!(marker.sequence_id > object.sequence_id);
    w.report(east, marker, EventStatus::Success).await;
    assert_eq!(w.served(east).await, []);
    assert_eq!(
        w.served(west).await,
        served,
        "the one that was offline still gets it"
    );
    w.report(west, marker, EventStatus::Success).await;
    assert_eq!(w.store.assignment_snapshot().await.unwrap().assignments, []);
}

async fn a_released_stack_that_is_deleted_is_still_confirmed_once(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    w.store.target_delete(&w.by, agent, stack).await.unwrap();
    w.store.stack_delete(&w.by, stack).await.unwrap();
    let served = w.served(agent).await;
    let [(_, Order::Delete, Some(marker))] = &served[..] else {
        panic!("{served:?}")
    };
    w.report(agent, marker, EventStatus::Success).await;
    assert_eq!(w.served(agent).await, []);
}

async fn a_deleted_generator_deletes_its_stacks_for_offline_agents(w: World) {
    let (generator, agent, _, _) = w.small_fleet().await;
    let second = w.stack(generator, "second").await;
    w.submit(second, "kind: Two").await;
    w.target(agent, second).await;
    w.store.generator_delete(&w.by, generator).await.unwrap();
    assert_eq!(w.store.registrations_of_agent(agent).await.unwrap(), []);
    let served = w.served(agent).await;
    assert_eq!(served.len(), 2);
    for (_, order, marker) in served {
        assert_eq!(order, Order::Delete);
        w.report(agent, &marker.unwrap(), EventStatus::Success)
            .await;
    }
    assert_eq!(w.served(agent).await, []);
}

async fn deregistration_releases_everything_of_that_generator(w: World) {
    let (generator, agent, stack, _) = w.small_fleet().await;
    w.store
        .registration_delete(&w.by, agent, generator)
        .await
        .unwrap();
    let served = w.served(agent).await;
    assert!(
        matches!(&served[..], [(s, Order::Release, Some(_))] if *s == stack),
        "{served:?}"
    );
    assert_eq!(w.store.targets_of_stack(stack).await.unwrap(), []);
    let gone = w.store.registration_delete(&w.by, agent, generator).await;
    assert!(matches!(gone, Err(Error::NotFound { .. })), "{gone:?}");
}

async fn a_target_that_comes_back_is_served_again(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    w.report(agent, &object, EventStatus::Success).await;
    w.store.target_delete(&w.by, agent, stack).await.unwrap();
    let tombstone = w.served(agent).await[0].2.clone().unwrap();
    w.target(agent, stack).await;
    assert_eq!(w.assignment(agent, stack).await.phase(), Phase::Applied);
    // The agent had already begun to remove it: it must apply it again.
    w.report(agent, &tombstone, EventStatus::Success).await;
    let assignment = w.assignment(agent, stack).await;
    assert_eq!(
        (assignment.order, assignment.phase()),
        (Order::Serve, Phase::Pending)
    );
    w.report(agent, &object, EventStatus::Success).await;
    assert_eq!(w.assignment(agent, stack).await.phase(), Phase::Applied);
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

fn material(secret: &str) -> KeyMaterial {
    KeyMaterial {
        hash: KeyHash::of(secret),
        short_token: "BR123456".into(),
    }
}

async fn keys_rotate_in_one_step(w: World) {
    let (generator, ..) = w.small_fleet().await;
    let other = w.generator("other").await;
    let role = Role::Generator(generator);
    let bystander = NewKey::lasting(Role::Generator(other), material("bystander"));
    w.store.key_create(&w.by, bystander).await.unwrap();
    let old = w
        .store
        .key_create(&w.by, NewKey::lasting(role, material("old")))
        .await
        .unwrap();
    let new = w
        .store
        .key_rotate(&w.by, role, material("new"))
        .await
        .unwrap();
    let found = w
        .store
        .key_find(&KeyHash::of("old"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.id, found.revoked_at.is_some()), (old.id, true));
    assert_eq!(
        w.store.key_find(&KeyHash::of("new")).await.unwrap(),
        Some(new.clone())
    );
    assert_eq!(w.store.key_list().await.unwrap().len(), 2);
    let twin = w
        .store
        .key_create(&w.by, NewKey::lasting(Role::Admin, material("new")))
        .await;
    assert!(
        matches!(twin, Err(Error::Conflict { constraint }) if constraint == "api_keys_hash_key")
    );
    w.store.key_revoke(&w.by, new.id).await.unwrap();
    assert!(
        w.store
            .key_get(new.id)
            .await
            .unwrap()
            .unwrap()
            .revoked_at
            .is_some()
    );
}

async fn deleting_the_bearer_revokes_its_keys(w: World) {
    let new = NewGenerator {
        name: name("ci"),
        description: None,
        is_system: false,
    };
    let generator = w
        .store
        .generator_create(&w.by, new, Some(material("g")))
        .await
        .unwrap();
    let new = NewAgent {
        name: name("a"),
        cluster_name: name("c"),
        generators: vec![],
    };
    let agent = w
        .store
        .agent_create(&w.by, new, Some(material("a")))
        .await
        .unwrap();
    assert_eq!(w.store.key_list().await.unwrap().len(), 2);
    w.store.generator_delete(&w.by, generator.id).await.unwrap();
    w.store.agent_delete(&w.by, agent.id).await.unwrap();
    assert_eq!(w.store.key_list().await.unwrap(), []);
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

async fn a_deleted_agent_leaves_no_obligations(w: World) {
    let (_, agent, stack, object) = w.small_fleet().await;
    w.report(agent, &object, EventStatus::Success).await;
    w.store.agent_delete(&w.by, agent).await.unwrap();
    assert_eq!(w.store.assignments_of_stack(stack).await.unwrap(), []);
    let late = w
        .store
        .event_record(event(agent, &object, EventStatus::Success))
        .await;
    assert!(
        matches!(late, Err(Error::NotFound { noun: "agent", .. })),
        "{late:?}"
    );
    let unknown = w.store.agent_delete(&w.by, agent).await;
    assert!(
        matches!(unknown, Err(Error::NotFound { .. })),
        "{unknown:?}"
    );
}
