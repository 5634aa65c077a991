//! Stacks: named units of delivery.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, Control, Generator, GeneratorId, Label, Name, NewStack, ObjectKind, Page,
    Paging, Stack, StackId, StackUpdate, Subject,
};
use futures::FutureExt;
use serde_json::json;

use super::{assignments, control, deployments, living};
use crate::database::Database;
use crate::fact::Fact;
use crate::page::{self, From};
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// Which stacks are wanted; nothing set means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackFilter {
    /// Those of this name.
    pub name: Option<Name>,
    /// Those with this label.
    pub label: Option<Label>,
    /// Those of this generator.
    pub generator: Option<GeneratorId>,
}

/// The named units of delivery.
#[async_trait]
pub trait Stacks {
    /// Creates a stack.
    async fn stack_create(&self, by: &Actor, new: NewStack) -> Result<Stack>;

    /// The stack, unless it is deleted.
    async fn stack_get(&self, id: StackId) -> Result<Option<Stack>>;

    /// The stack, also if it is deleted: agents may still be busy removing it.
    async fn stack_recall(&self, id: StackId) -> Result<Option<Stack>>;

    /// The stacks that are not deleted, oldest first.
    async fn stack_list(&self, filter: StackFilter, paging: Paging) -> Result<Page<Stack>>;

    /// Changes what may be changed; the owner is not among it.
    async fn stack_update(&self, by: &Actor, id: StackId, update: StackUpdate) -> Result<Stack>;

    /// Deletes the stack. A deletion marker goes to every agent that may hold it, and stays
    /// until that agent has confirmed it. The name is free again at once.
    async fn stack_delete(&self, by: &Actor, id: StackId) -> Result<()>;
}

#[async_trait]
impl Stacks for Database {
    async fn stack_create(&self, by: &Actor, new: NewStack) -> Result<Stack> {
        let by = by.clone();
        self.write(move |tx| async move { create(tx, &by, new).await }.boxed())
            .await
    }

    async fn stack_get(&self, id: StackId) -> Result<Option<Stack>> {
        self.alive(id).await
    }

    async fn stack_recall(&self, id: StackId) -> Result<Option<Stack>> {
        let query = sql("SELECT * FROM stacks WHERE id = $1").bind(&id);
        self.one(query, stack).await
    }

    async fn stack_list(&self, filter: StackFilter, paging: Paging) -> Result<Page<Stack>> {
        let query = sql("SELECT * FROM stacks \
             WHERE position > $1 AND deleted_at IS NULL \
             AND ($3 IS NULL OR name = $3) \
             AND ($4 IS NULL OR EXISTS (SELECT 1 FROM stack_labels l \
                 WHERE l.owner_id = stacks.id AND l.label = $4)) \
             AND ($5 IS NULL OR generator_id = $5) \
             ORDER BY position LIMIT $2");
        let query = page::bind(query, paging, From::Oldest)
            .bind(&filter.name)
            .bind(&filter.label)
            .bind(&filter.generator);
        self.page(query, paging, "position", stack).await
    }

    async fn stack_update(&self, by: &Actor, id: StackId, update: StackUpdate) -> Result<Stack> {
        let by = by.clone();
        self.write(move |tx| async move { change(tx, &by, id, update).await }.boxed())
            .await
    }

    async fn stack_delete(&self, by: &Actor, id: StackId) -> Result<()> {
        let by = by.clone();
        self.write(move |tx| async move { delete(tx, &by, id).await }.boxed())
            .await
    }
}

/// The stacks of a generator.
pub(super) async fn owned_by(tx: &mut Transaction, generator: GeneratorId) -> Result<Vec<StackId>> {
    let query = sql(
        "SELECT * FROM stacks WHERE generator_id = $1 AND deleted_at IS NULL \
         ORDER BY position",
    )
    .bind(&generator);
    tx.all(query)
        .await?
        .iter()
        .map(|row| row.get("id"))
        .collect()
}

/// The stack, which must have existed.
pub(super) async fn recall(tx: &mut Transaction, id: StackId) -> Result<Stack> {
    let query = sql("SELECT * FROM stacks WHERE id = $1").bind(&id);
    let found = tx.one(query).await?.as_ref().map(stack).transpose()?;
    found.ok_or_else(|| Error::not_found("stack", &id))
}

async fn create(tx: &mut Transaction, by: &Actor, new: NewStack) -> Result<Stack> {
    living::refer::<Generator>(tx, new.generator_id, "stacks_generator_id_fkey").await?;
    let stack = Stack {
        id: tx.id(),
        created_at: tx.now(),
        updated_at: tx.now(),
        deleted_at: None,
        name: new.name,
        description: new.description,
        generator_id: new.generator_id,
        newest_sequence_id: None,
        control: Control::default(),
    };
    let position = tx.position();
    let query = sql("INSERT INTO stacks \
         (id, position, created_at, updated_at, name, description, generator_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)")
    .bind(&stack.id)
    .bind(&position)
    .bind(&stack.created_at)
    .bind(&stack.updated_at)
    .bind(&stack.name)
    .bind(&stack.description)
    .bind(&stack.generator_id);
    tx.run(query).await?;
    note(tx, by, Action::StackCreated, &stack).await?;
    Ok(stack)
}

async fn change(
    tx: &mut Transaction,
    by: &Actor,
    id: StackId,
    update: StackUpdate,
) -> Result<Stack> {
    let old = living::require::<Stack>(tx, id).await?;
    let stack = Stack {
        name: update.name.unwrap_or(old.name),
        description: update.description.unwrap_or(old.description),
        updated_at: tx.now(),
        ..old
    };
    let query = sql("UPDATE stacks SET name = $2, description = $3, updated_at = $4 WHERE id = $1")
        .bind(&id)
        .bind(&stack.name)
        .bind(&stack.description)
        .bind(&stack.updated_at);
    tx.run(query).await?;
    note(tx, by, Action::StackUpdated, &stack).await?;
    Ok(stack)
}

pub(super) async fn delete(tx: &mut Transaction, by: &Actor, id: StackId) -> Result<()> {
    let stack = living::require::<Stack>(tx, id).await?;
    let marker = deployments::append_removal(tx, stack.id, ObjectKind::Deletion).await?;
    assignments::order_deletion(tx, stack.id, marker).await?;
    for forget in [
        "DELETE FROM targets WHERE stack_id = $1",
        "DELETE FROM stack_labels WHERE owner_id = $1",
        "DELETE FROM stack_annotations WHERE owner_id = $1",
    ] {
        tx.run(sql(forget).bind(&stack.id)).await?;
    }
    let query = sql("UPDATE stacks SET newest_sequence_id = $2 WHERE id = $1")
        .bind(&stack.id)
        .bind(&marker);
    tx.run(query).await?;
    living::end::<Stack>(tx, id).await?;
    note(tx, by, Action::StackDeleted, &stack).await
}

pub(super) async fn note(
    tx: &mut Transaction,
    by: &Actor,
    action: Action,
    stack: &Stack,
) -> Result<()> {
    let details = json!({
        "stack_id": stack.id,
        "name": stack.name,
        "generator_id": stack.generator_id,
        "control": stack.control,
    });
    tx.record(
        by,
        Fact::new(action, Subject::Stack { id: stack.id }, details),
    )
    .await
}

pub(super) fn stack(row: &Row) -> Result<Stack> {
    Ok(Stack {
        id: row.get("id")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        deleted_at: row.get("deleted_at")?,
        name: row.get("name")?,
        description: row.get("description")?,
        generator_id: row.get("generator_id")?,
        newest_sequence_id: row.get("newest_sequence_id")?,
        control: control::read(row)?,
    })
}
