//! Target state: who is served what, how it changes, and what asking costs.

use std::time::Duration;

use evenkeel_api::{NewAgentAnnotation, NewStackAnnotation};
use evenkeel_client::Poll;
use evenkeel_model::{AgentStatus, Checksum, EventStatus, ObjectKind};

use crate::world::{Scene, World, manifest};

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_targeted_stack_is_served_with_its_newest_revision() {
    let it = Scene::new().await;
    assert!(it.agent.sequences().await.is_empty());
    it.submit("one").await;
    let newest = it.submit("two").await;
    let state = it.agent.target_state().await;
    assert!(state.active);
    assert_eq!(state.objects.len(), 1);
    assert_eq!(state.objects[0].id, newest.id);
    assert_eq!(state.objects[0].yaml_content, Some(manifest("two")));
    assert_eq!(
        state.objects[0].yaml_checksum,
        Checksum::of(manifest("two"))
    );
}

#[tokio::test]
async fn objects_come_in_ascending_order_of_sequence_id() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let agent = world.agent("edge", &[&shop]).await;
    let mut stacks = Vec::new();
    for name in ["a", "b", "c"] {
        let stack = shop.stack(name).await;
        shop.client.target_create(agent.id, stack.id).await.unwrap();
        stacks.push(stack.id);
    }
    for at in [2, 0, 1, 0] {
        shop.submit(stacks[at], "x").await;
    }
    let sequences = agent.sequences().await;
    assert_eq!(sequences.len(), 3);
    assert!(sequences.is_sorted(), "{sequences:?}");
}

#[tokio::test]
async fn labels_and_annotations_tie_stacks_to_agents_of_the_same_tenant_only() {
    let world = World::new().await;
    let (shop, bank) = (world.tenant("shop").await, world.tenant("bank").await);
    let agent = world.agent("edge", &[&shop]).await;
    world
        .admin
        .agent_label_add(agent.id, &"eu".parse().unwrap())
        .await
        .unwrap();
    let tier = NewAgentAnnotation {
        agent_id: None,
        key: "tier".parse().unwrap(),
        value: "gold".parse().unwrap(),
    };
    world
        .admin
        .agent_annotation_add(agent.id, &tier)
        .await
        .unwrap();
    let mut expected = Vec::new();
    for tenant in [&shop, &bank] {
        let (labelled, annotated) = (tenant.stack("l").await, tenant.stack("a").await);
        tenant
            .client
            .stack_label_add(labelled.id, &"eu".parse().unwrap())
            .await
            .unwrap();
        let tier = NewStackAnnotation {
            stack_id: None,
            key: "tier".parse().unwrap(),
            value: "gold".parse().unwrap(),
        };
        tenant
            .client
            .stack_annotation_add(annotated.id, &tier)
            .await
            .unwrap();
        expected.push(tenant.submit(labelled.id, "l").await.sequence_id.0);
        expected.push(tenant.submit(annotated.id, "a").await.sequence_id.0);
    }
    assert_eq!(agent.sequences().await, expected[..2]);
    assert_eq!(agent.client.agent_stacks(agent.id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_unchanged_poll_touches_no_database() {
    let it = Scene::new().await;
    it.submit("one").await;
    let version = it.agent.target_state().await.version;
    // Whoever needs the database from here on gets an error.
    it.world.database.close().await;
    assert!(it.world.admin.fleet().await.is_err());
    for _ in 0..10 {
        assert_eq!(it.agent.poll(&version, None).await, None);
    }
    // Texts that memory holds need it as little.
    assert_eq!(it.agent.target_state().await.objects.len(), 1);
}

#[tokio::test]
async fn a_waiting_poll_is_answered_when_something_changes() {
    let it = Scene::new().await;
    let version = it.agent.target_state().await.version;
    let (answer, submitted) = tokio::join!(it.agent.poll(&version, Some(LONG)), async {
        it.until_waiting().await;
        it.submit("one").await
    });
    assert_eq!(answer.unwrap().objects[0].id, submitted.id);
    assert!(!it.world.admin.fleet().await.unwrap()[0].ws_connected);
}

#[tokio::test]
async fn a_waiting_poll_ends_unchanged_after_its_time() {
    let world = World::new().await;
    let agent = world.agent("edge", &[]).await;
    let version = agent.target_state().await.version;
    assert_eq!(
        agent.poll(&version, Some(Duration::from_millis(30))).await,
        None
    );
}

#[tokio::test]
async fn what_agents_report_does_not_wake_those_who_wait() {
    let it = Scene::new().await;
    let object = it.submit("one").await;
    let version = it.agent.target_state().await.version;
    let wait = Some(Duration::from_millis(300));
    let (answer, ()) = tokio::join!(
        it.agent.poll(&version, wait),
        it.agent.reports(object.id, EventStatus::Success)
    );
    assert_eq!(answer, None);
}

#[tokio::test]
async fn bodies_can_be_left_out_and_fetched_by_checksum() {
    let it = Scene::new().await;
    it.submit("one").await;
    let poll = Poll {
        without_bodies: true,
        ..Poll::default()
    };
    let state = it
        .agent
        .client
        .target_state(it.agent.id, &poll)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(state.objects[0].yaml_content, None);
    let checksum = &state.objects[0].yaml_checksum;
    let text = it
        .agent
        .client
        .agent_manifest(it.agent.id, checksum)
        .await
        .unwrap();
    assert_eq!(text, manifest("one"));
    let other = it
        .agent
        .client
        .agent_manifest(it.agent.id, &Checksum::of("other"))
        .await
        .unwrap_err();
    assert_eq!(other.status(), Some(404));
}

#[tokio::test]
async fn a_deleted_stack_is_served_as_a_marker_until_the_agent_confirms() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let (here, away) = (
        world.agent("here", &[&shop]).await,
        world.agent("away", &[&shop]).await,
    );
    let stack = shop.stack("web").await;
    for agent in [&here, &away] {
        shop.client.target_create(agent.id, stack.id).await.unwrap();
    }
    shop.submit(stack.id, "one").await;
    shop.client.stack_delete(stack.id).await.unwrap();
    let marker = here.target_state().await.objects.remove(0);
    assert!(marker.is_deletion_marker);
    assert_eq!(marker.kind, ObjectKind::Deletion);
    assert_eq!(marker.yaml_checksum, Checksum::of(""));
    here.reports(marker.id, EventStatus::Failure).await;
    assert_eq!(here.sequences().await, [marker.sequence_id.0]);
    here.reports(marker.id, EventStatus::Success).await;
    assert!(here.sequences().await.is_empty());
    assert_eq!(away.sequences().await, [marker.sequence_id.0]);
}

#[tokio::test]
async fn a_removed_target_is_released_by_a_tombstone_for_that_agent_alone() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let (one, two) = (
        world.agent("one", &[&shop]).await,
        world.agent("two", &[&shop]).await,
    );
    let stack = shop.stack("web").await;
    for agent in [&one, &two] {
        shop.client.target_create(agent.id, stack.id).await.unwrap();
    }
    let revision = shop.submit(stack.id, "one").await;
    shop.client.target_delete(one.id, stack.id).await.unwrap();
    let tombstone = one.target_state().await.objects.remove(0);
    assert!(tombstone.is_deletion_marker && tombstone.sequence_id > revision.sequence_id);
    assert_eq!(tombstone.kind, ObjectKind::Release);
    assert_eq!(two.sequences().await, [revision.sequence_id.0]);
    one.reports(tombstone.id, EventStatus::Success).await;
    assert!(one.sequences().await.is_empty());
}

#[tokio::test]
async fn an_inactive_agent_gets_an_empty_marked_answer() {
    let it = Scene::new().await;
    let object = it.submit("one").await;
    it.world.set_status(&it.agent, AgentStatus::Inactive).await;
    let paused = it.agent.target_state().await;
    assert!(!paused.active && paused.objects.is_empty());
    assert_eq!(it.agent.poll(&paused.version, None).await, None);
    it.world.set_status(&it.agent, AgentStatus::Active).await;
    assert_eq!(it.agent.sequences().await, [object.sequence_id.0]);
}

#[tokio::test]
async fn a_key_that_is_revoked_while_its_bearer_waits_is_told_nothing() {
    let it = Scene::new().await;
    let poll = Poll {
        known: Some(it.agent.target_state().await.version),
        wait: Some(LONG),
        ..Poll::default()
    };
    let (answer, ()) = tokio::join!(it.agent.client.target_state(it.agent.id, &poll), async {
        it.until_waiting().await;
        it.world.admin.agent_rotate(it.agent.id).await.unwrap();
        it.submit("one").await;
    });
    assert_eq!(answer.unwrap_err().status(), Some(401));
}
