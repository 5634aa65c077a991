//! Names, references and updates of every noun.

use evenkeel_model::*;
use evenkeel_store::*;
use jiff::SignedDuration;

use crate::world::{World, name, on_every_database};

on_every_database! {
    names_are_unique_while_alive_and_free_after_deletion,
    a_violation_names_its_constraint,
    a_missing_reference_names_its_constraint,
    an_update_changes_only_what_it_names,
    the_system_generator_cannot_be_deleted,
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
