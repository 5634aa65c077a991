//! Assignments: who is meant to hold what, until it is confirmed.

use evenkeel_model::*;
use evenkeel_store::*;

use crate::world::{World, event, label, on_every_database};

on_every_database! {
    a_target_needs_the_agents_consent,
    labels_and_annotations_assign_within_the_tenant_only,
    a_removed_target_is_released_until_confirmed,
    a_target_that_is_also_a_label_match_stays,
    a_deleted_stack_is_served_as_a_marker_until_each_agent_confirmed,
    a_released_stack_that_is_deleted_is_still_confirmed_once,
    a_deleted_generator_deletes_its_stacks_for_offline_agents,
    deregistration_releases_everything_of_that_generator,
    a_target_that_comes_back_is_served_again,
    a_deleted_agent_leaves_no_obligations,
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
