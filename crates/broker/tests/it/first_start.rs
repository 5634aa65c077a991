//! The first start, and those after it.

use std::os::unix::fs::PermissionsExt;

use evenkeel_api::{KeyRole, NewKey};
use evenkeel_client::Client;

use crate::world::{World, config, open, start};

#[tokio::test]
async fn the_first_start_mints_a_key_and_writes_it_for_its_owner_only() {
    let room = tempfile::tempdir().unwrap();
    let mut config = config();
    config.database.data_dir = Some(room.path().to_owned());
    let url = format!("sqlite://{}", room.path().join("broker.db").display());
    let world = World::on(open(&url).await, config).await;
    let first = world.broker.first_key().unwrap().clone();
    let file = first.file.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), first.key);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(world.admin.auth_pak().await.unwrap().admin);
}

#[tokio::test]
async fn a_later_start_mints_nothing_and_the_key_still_opens() {
    let world = World::new().await;
    let key = world.broker.first_key().unwrap().key.clone();
    let (second, _stop) = start(&world.database, config()).await;
    assert_eq!(second.first_key(), None);
    let client = Client::new(&format!("http://{}", second.address()), &key).unwrap();
    assert!(client.auth_pak().await.unwrap().admin);
}

#[tokio::test]
async fn there_is_no_default_key() {
    let world = World::new().await;
    let published = "brokkr_BR3rVsDa_GK3QN7CDUzYc6iKgMkJ98M2WSimM5t6U8";
    let refused = world
        .admin
        .with_key(published)
        .auth_pak()
        .await
        .unwrap_err();
    assert_eq!(
        (refused.status(), refused.code()),
        (Some(401), Some("unauthenticated"))
    );
}

#[tokio::test]
async fn a_key_counts_whole() {
    let world = World::new().await;
    let key = &world.broker.first_key().unwrap().key;
    let long = key.rsplit('_').next().unwrap();
    for other in [
        format!("x_y_{long}"),
        format!("brokkr_BRaaaaaa_{long}"),
        long.to_owned(),
    ] {
        let refused = world.admin.with_key(&other).auth_pak().await.unwrap_err();
        assert_eq!(refused.status(), Some(401), "{other}");
    }
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_at_once() {
    let world = World::new().await;
    let new = NewKey {
        role: KeyRole::Readonly,
        description: None,
        expires_at: None,
    };
    let minted = world.admin.key_create(&new).await.unwrap();
    let reader = world.admin.with_key(&minted.pak);
    assert!(reader.fleet().await.unwrap().is_empty());
    world.admin.key_revoke(minted.key.id).await.unwrap();
    assert_eq!(reader.fleet().await.unwrap_err().status(), Some(401));
}

#[tokio::test]
async fn a_rotated_key_replaces_the_old_one_at_once() {
    let world = World::new().await;
    let tenant = world.tenant("shop").await;
    let rotated = tenant.client.generator_rotate(tenant.id).await.unwrap();
    assert_eq!(
        tenant.client.auth_pak().await.unwrap_err().status(),
        Some(401)
    );
    let bearer = world.admin.with_key(&rotated.pak).auth_pak().await.unwrap();
    assert_eq!(bearer.generator, Some(tenant.id));
}
