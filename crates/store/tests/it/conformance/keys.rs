//! Keys.

use evenkeel_model::*;
use evenkeel_store::*;

use crate::world::{World, name, on_every_database};

on_every_database! {
    keys_rotate_in_one_step,
    deleting_the_bearer_revokes_its_keys,
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
