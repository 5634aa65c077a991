//! API keys, of which only hashes are kept.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, ApiKey, KeyHash, KeyId, KeyMaterial, NewKey, Role, Subject, UnknownWord,
};
use futures::FutureExt;
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

use crate::database::Database;
use crate::fact::Fact;
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// The keys. Each one minted or revoked is a change, so that every broker honours it at once.
#[async_trait]
pub trait Keys {
    /// Keeps a new key.
    async fn key_create(&self, by: &Actor, new: NewKey) -> Result<ApiKey>;

    /// Keeps a new key for the role and revokes all its older ones, in one step.
    async fn key_rotate(&self, by: &Actor, role: Role, material: KeyMaterial) -> Result<ApiKey>;

    /// Revokes a key.
    async fn key_revoke(&self, by: &Actor, id: KeyId) -> Result<()>;

    /// The key with this hash, revoked or not.
    async fn key_find(&self, hash: &KeyHash) -> Result<Option<ApiKey>>;

    /// One key, revoked or not.
    async fn key_get(&self, id: KeyId) -> Result<Option<ApiKey>>;

    /// The keys that are not revoked, oldest first.
    async fn key_list(&self) -> Result<Vec<ApiKey>>;
}

#[async_trait]
impl Keys for Database {
    async fn key_create(&self, by: &Actor, new: NewKey) -> Result<ApiKey> {
        let by = by.clone();
        self.write(move |tx| async move { create(tx, &by, new).await }.boxed())
            .await
    }

    async fn key_rotate(&self, by: &Actor, role: Role, material: KeyMaterial) -> Result<ApiKey> {
        let by = by.clone();
        self.write(move |tx| async move { rotate(tx, &by, role, material).await }.boxed())
            .await
    }

    async fn key_revoke(&self, by: &Actor, id: KeyId) -> Result<()> {
        let by = by.clone();
        self.write(move |tx| async move { revoke(tx, &by, id).await }.boxed())
            .await
    }

    async fn key_find(&self, hash: &KeyHash) -> Result<Option<ApiKey>> {
        self.one(
            sql("SELECT * FROM api_keys WHERE hash = $1").bind(hash),
            key,
        )
        .await
    }

    async fn key_get(&self, id: KeyId) -> Result<Option<ApiKey>> {
        self.one(sql("SELECT * FROM api_keys WHERE id = $1").bind(&id), key)
            .await
    }

    async fn key_list(&self) -> Result<Vec<ApiKey>> {
        let query = sql("SELECT * FROM api_keys WHERE revoked_at IS NULL ORDER BY position");
        self.all(query, key).await
    }
}

async fn create(tx: &mut Transaction, by: &Actor, new: NewKey) -> Result<ApiKey> {
    let key = mint(tx, new).await?;
    note(tx, by, Action::KeyCreated, &key).await?;
    Ok(key)
}

async fn rotate(
    tx: &mut Transaction,
    by: &Actor,
    role: Role,
    material: KeyMaterial,
) -> Result<ApiKey> {
    revoke_all(tx, role).await?;
    let key = mint(tx, NewKey::lasting(role, material)).await?;
    note(tx, by, Action::KeyRotated, &key).await?;
    Ok(key)
}

/// Keeps a new key. The caller's fact says why.
pub(super) async fn mint(tx: &mut Transaction, new: NewKey) -> Result<ApiKey> {
    let key = ApiKey {
        id: tx.id(),
        role: new.role,
        hash: new.material.hash,
        short_token: new.material.short_token,
        description: new.description,
        created_at: tx.now(),
        expires_at: new.expires_at,
        revoked_at: None,
    };
    let (role, owner) = split(key.role);
    let position = tx.position();
    let query = sql(
        "INSERT INTO api_keys (id, position, role, owner_id, hash, short_token, \
             description, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(&key.id)
    .bind(&position)
    .bind(&role.to_owned())
    .bind(&owner)
    .bind(&key.hash)
    .bind(&key.short_token)
    .bind(&key.description)
    .bind(&key.created_at)
    .bind(&key.expires_at);
    tx.run(query).await?;
    tx.changed(Subject::Key { id: key.id }).await?;
    Ok(key)
}

/// Revokes every key of the role. The caller's fact says why.
pub(super) async fn revoke_all(tx: &mut Transaction, role: Role) -> Result<()> {
    let (role, owner) = split(role);
    let query = sql("SELECT * FROM api_keys \
         WHERE role = $1 AND ($2 IS NULL OR owner_id = $2) AND revoked_at IS NULL \
         ORDER BY position")
    .bind(&role.to_owned())
    .bind(&owner);
    for row in tx.all(query).await? {
        end(tx, row.get("id")?).await?;
    }
    Ok(())
}

async fn revoke(tx: &mut Transaction, by: &Actor, id: KeyId) -> Result<()> {
    let query = sql("SELECT * FROM api_keys WHERE id = $1 AND revoked_at IS NULL").bind(&id);
    let found = tx.one(query).await?.as_ref().map(key).transpose()?;
    let key = found.ok_or_else(|| Error::not_found("key", &id))?;
    end(tx, id).await?;
    note(tx, by, Action::KeyDeleted, &key).await
}

async fn end(tx: &mut Transaction, id: KeyId) -> Result<()> {
    let now = tx.now();
    tx.run(
        sql("UPDATE api_keys SET revoked_at = $2 WHERE id = $1")
            .bind(&id)
            .bind(&now),
    )
    .await?;
    tx.changed(Subject::Key { id }).await
}

async fn note(tx: &mut Transaction, by: &Actor, action: Action, key: &ApiKey) -> Result<()> {
    let details = json!({ "bearer": key.role, "short_token": key.short_token });
    tx.record(by, Fact::new(action, Subject::Key { id: key.id }, details))
        .await
}

const fn split(role: Role) -> (&'static str, Option<Uuid>) {
    match role {
        Role::Admin => ("admin", None),
        Role::Readonly => ("readonly", None),
        Role::Agent(id) => ("agent", Some(id.0)),
        Role::Generator(id) => ("generator", Some(id.0)),
    }
}

fn role(row: &Row) -> Result<Role> {
    Ok(match row.get::<String>("role")?.as_str() {
        "admin" => Role::Admin,
        "readonly" => Role::Readonly,
        "agent" => Role::Agent(row.get("owner_id")?),
        "generator" => Role::Generator(row.get("owner_id")?),
        word => {
            let source = Arc::new(UnknownWord {
                list: "role",
                word: word.to_owned(),
            });
            return Err(Error::Unreadable {
                column: "role".to_owned(),
                source,
            });
        }
    })
}

fn key(row: &Row) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.get("id")?,
        role: role(row)?,
        hash: row.get("hash")?,
        short_token: row.get("short_token")?,
        description: row.get("description")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        revoked_at: row.get("revoked_at")?,
    })
}
