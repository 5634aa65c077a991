//! Generators: the tenants.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, Generator, GeneratorId, GeneratorUpdate, KeyMaterial, NewGenerator, NewKey,
    Page, Paging, Role, Subject,
};
use futures::FutureExt;
use jiff::Timestamp;
use serde_json::json;

use super::{keys, living, stacks};
use crate::database::Database;
use crate::fact::Fact;
use crate::page::{self, From};
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// The tenants.
#[async_trait]
pub trait Generators {
    /// Creates a generator, with its key if one is given.
    async fn generator_create(
        &self,
        by: &Actor,
        new: NewGenerator,
        key: Option<KeyMaterial>,
    ) -> Result<Generator>;

    /// The generator, unless it is deleted.
    async fn generator_get(&self, id: GeneratorId) -> Result<Option<Generator>>;

    /// The generators that are not deleted, oldest first; those of this name, if one is given.
    async fn generator_list(&self, name: Option<&str>, paging: Paging) -> Result<Page<Generator>>;

    /// Changes what may be changed.
    async fn generator_update(
        &self,
        by: &Actor,
        id: GeneratorId,
        update: GeneratorUpdate,
    ) -> Result<Generator>;

    /// Deletes the generator and all its stacks; agents are told to remove what they hold of
    /// them. Its keys open nothing any more and its name is free again.
    async fn generator_delete(&self, by: &Actor, id: GeneratorId) -> Result<()>;

    /// Remembers when generators were last active.
    async fn generators_seen(&self, seen: &[(GeneratorId, Timestamp)]) -> Result<()>;
}

#[async_trait]
impl Generators for Database {
    async fn generator_create(
        &self,
        by: &Actor,
        new: NewGenerator,
        key: Option<KeyMaterial>,
    ) -> Result<Generator> {
        let by = by.clone();
        self.write(move |tx| async move { create(tx, &by, new, key).await }.boxed())
            .await
    }

    async fn generator_get(&self, id: GeneratorId) -> Result<Option<Generator>> {
        self.alive(id).await
    }

    async fn generator_list(&self, name: Option<&str>, paging: Paging) -> Result<Page<Generator>> {
        let query = sql("SELECT * FROM generators \
             WHERE position > $1 AND deleted_at IS NULL AND ($3 IS NULL OR name = $3) \
             ORDER BY position LIMIT $2");
        let query = page::bind(query, paging, From::Oldest).bind(&name.map(str::to_owned));
        self.page(query, paging, "position", generator).await
    }

    async fn generator_update(
        &self,
        by: &Actor,
        id: GeneratorId,
        update: GeneratorUpdate,
    ) -> Result<Generator> {
        let by = by.clone();
        self.write(move |tx| async move { change(tx, &by, id, update).await }.boxed())
            .await
    }

    async fn generator_delete(&self, by: &Actor, id: GeneratorId) -> Result<()> {
        let by = by.clone();
        self.write(move |tx| async move { delete(tx, &by, id).await }.boxed())
            .await
    }

    async fn generators_seen(&self, seen: &[(GeneratorId, Timestamp)]) -> Result<()> {
        let seen = seen.to_vec();
        self.write(move |tx| async move { touch(tx, &seen).await }.boxed())
            .await
    }
}

async fn create(
    tx: &mut Transaction,
    by: &Actor,
    new: NewGenerator,
    key: Option<KeyMaterial>,
) -> Result<Generator> {
    let generator = Generator {
        id: tx.id(),
        created_at: tx.now(),
        updated_at: tx.now(),
        deleted_at: None,
        name: new.name,
        description: new.description,
        last_active_at: None,
        is_active: true,
        is_system: new.is_system,
    };
    insert(tx, &generator).await?;
    if let Some(material) = key {
        keys::mint(tx, NewKey::lasting(Role::Generator(generator.id), material)).await?;
    }
    note(tx, by, Action::GeneratorCreated, &generator).await?;
    Ok(generator)
}

async fn insert(tx: &mut Transaction, generator: &Generator) -> Result<()> {
    let position = tx.position();
    let query = sql("INSERT INTO generators \
         (id, position, created_at, updated_at, name, description, is_active, is_system) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)")
    .bind(&generator.id)
    .bind(&position)
    .bind(&generator.created_at)
    .bind(&generator.updated_at)
    .bind(&generator.name)
    .bind(&generator.description)
    .bind(&generator.is_active)
    .bind(&generator.is_system);
    tx.run(query).await.map(drop)
}

async fn change(
    tx: &mut Transaction,
    by: &Actor,
    id: GeneratorId,
    update: GeneratorUpdate,
) -> Result<Generator> {
    let old = living::require::<Generator>(tx, id).await?;
    let generator = Generator {
        name: update.name.unwrap_or(old.name),
        description: update.description.unwrap_or(old.description),
        is_active: update.is_active.unwrap_or(old.is_active),
        updated_at: tx.now(),
        ..old
    };
    let query = sql("UPDATE generators \
         SET name = $2, description = $3, is_active = $4, updated_at = $5 WHERE id = $1")
    .bind(&id)
    .bind(&generator.name)
    .bind(&generator.description)
    .bind(&generator.is_active)
    .bind(&generator.updated_at);
    tx.run(query).await?;
    note(tx, by, Action::GeneratorUpdated, &generator).await?;
    Ok(generator)
}

async fn delete(tx: &mut Transaction, by: &Actor, id: GeneratorId) -> Result<()> {
    let generator = living::require::<Generator>(tx, id).await?;
    if generator.is_system {
        return Err(Error::SystemGenerator(id));
    }
    for stack in stacks::owned_by(tx, id).await? {
        stacks::delete(tx, by, stack).await?;
    }
    tx.run(sql("DELETE FROM registrations WHERE generator_id = $1").bind(&id))
        .await?;
    keys::revoke_all(tx, Role::Generator(id)).await?;
    living::end::<Generator>(tx, id).await?;
    note(tx, by, Action::GeneratorDeleted, &generator).await
}

async fn touch(tx: &mut Transaction, seen: &[(GeneratorId, Timestamp)]) -> Result<()> {
    for (id, at) in seen {
        let query = sql("UPDATE generators SET last_active_at = $2 \
             WHERE id = $1 AND (last_active_at IS NULL OR last_active_at < $2)")
        .bind(id)
        .bind(at);
        tx.run(query).await?;
    }
    Ok(())
}

async fn note(
    tx: &mut Transaction,
    by: &Actor,
    action: Action,
    generator: &Generator,
) -> Result<()> {
    let details = json!({ "generator_id": generator.id, "name": generator.name });
    tx.record(
        by,
        Fact::new(action, Subject::Generator { id: generator.id }, details),
    )
    .await
}

pub(super) fn generator(row: &Row) -> Result<Generator> {
    Ok(Generator {
        id: row.get("id")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        deleted_at: row.get("deleted_at")?,
        name: row.get("name")?,
        description: row.get("description")?,
        last_active_at: row.get("last_active_at")?,
        is_active: row.get("is_active")?,
        is_system: row.get("is_system")?,
    })
}
