//! Deployment objects: immutable, numbered revisions.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, Checksum, DeploymentId, DeploymentObject, NewRevision, ObjectKind, ObjectRef,
    Page, Paging, SequenceId, Stack, StackId, Subject,
};
use futures::FutureExt;
use serde_json::json;
use std::sync::Arc;

use super::living;
use crate::database::Database;
use crate::fact::Fact;
use crate::page::{self, From};
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// What became of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// The object.
    pub object: ObjectRef,
    /// Whether it had been submitted before with the same idempotency key.
    pub replayed: bool,
}

/// The revisions.
#[async_trait]
pub trait Deployments {
    /// Appends a revision to its stack. The same content again makes a new revision, unless the
    /// idempotency key says that it is the same submission.
    async fn deployment_submit(&self, by: &Actor, new: NewRevision) -> Result<Submitted>;

    /// The object, with its text; also of a deleted stack.
    async fn deployment_get(&self, id: DeploymentId) -> Result<Option<DeploymentObject>>;

    /// The newest revision of a stack, without its text.
    async fn deployment_newest(&self, stack: StackId) -> Result<Option<ObjectRef>>;

    /// The revisions of a stack, newest first, with their texts.
    async fn deployment_list(
        &self,
        stack: StackId,
        paging: Paging,
    ) -> Result<Page<DeploymentObject>>;

    /// The revisions of a stack, newest first, without their texts.
    async fn deployment_refs(&self, stack: StackId, paging: Paging) -> Result<Page<ObjectRef>>;

    /// At most `limit` objects of all stacks after `seen`, oldest first. Whoever has seen one
    /// has seen all before it.
    async fn deployments_after(&self, seen: SequenceId, limit: u32) -> Result<Vec<ObjectRef>>;

    /// A text, by its checksum.
    async fn manifest_get(&self, checksum: &Checksum) -> Result<Option<String>>;
}

#[async_trait]
impl Deployments for Database {
    async fn deployment_submit(&self, by: &Actor, new: NewRevision) -> Result<Submitted> {
        let by = by.clone();
        self.write(move |tx| async move { submit(tx, &by, new).await }.boxed())
            .await
    }

    async fn deployment_get(&self, id: DeploymentId) -> Result<Option<DeploymentObject>> {
        let query = sql("SELECT o.*, m.content FROM deployment_objects o \
             JOIN manifests m ON m.checksum = o.yaml_checksum WHERE o.id = $1")
        .bind(&id);
        self.one(query, whole).await
    }

    async fn deployment_newest(&self, stack: StackId) -> Result<Option<ObjectRef>> {
        let query = sql("SELECT o.* FROM stacks s \
             JOIN deployment_objects o ON o.sequence_id = s.newest_sequence_id WHERE s.id = $1")
        .bind(&stack);
        self.one(query, object).await
    }

    async fn deployment_list(
        &self,
        stack: StackId,
        paging: Paging,
    ) -> Result<Page<DeploymentObject>> {
        let query = sql("SELECT o.*, m.content FROM deployment_objects o \
             JOIN manifests m ON m.checksum = o.yaml_checksum \
             WHERE o.sequence_id < $1 AND o.stack_id = $3 AND o.kind <> 'release' \
             ORDER BY o.sequence_id DESC LIMIT $2");
        let query = page::bind(query, paging, From::Newest).bind(&stack);
        self.page(query, paging, "sequence_id", whole).await
    }

    async fn deployment_refs(&self, stack: StackId, paging: Paging) -> Result<Page<ObjectRef>> {
        let query = sql("SELECT * FROM deployment_objects \
             WHERE sequence_id < $1 AND stack_id = $3 AND kind <> 'release' \
             ORDER BY sequence_id DESC LIMIT $2");
        let query = page::bind(query, paging, From::Newest).bind(&stack);
        self.page(query, paging, "sequence_id", object).await
    }

    async fn deployments_after(&self, seen: SequenceId, limit: u32) -> Result<Vec<ObjectRef>> {
        let query = sql("SELECT * FROM deployment_objects WHERE sequence_id > $1 \
             ORDER BY sequence_id LIMIT $2")
        .bind(&seen)
        .bind(&i64::from(limit));
        self.all(query, object).await
    }

    async fn manifest_get(&self, checksum: &Checksum) -> Result<Option<String>> {
        let query = sql("SELECT content FROM manifests WHERE checksum = $1").bind(checksum);
        self.one(query, content).await
    }
}

async fn submit(tx: &mut Transaction, by: &Actor, new: NewRevision) -> Result<Submitted> {
    let stack = living::require::<Stack>(tx, new.stack_id).await?;
    if let Some(object) = submitted_before(tx, &new).await? {
        return Ok(Submitted {
            object,
            replayed: true,
        });
    }
    check_newest(&stack, &new)?;
    check_takeover(tx, &stack, &new).await?;
    let kind = if new.is_deletion_marker {
        ObjectKind::Deletion
    } else {
        ObjectKind::Revision
    };
    let object = append(tx, kind, new).await?;
    let query = sql("UPDATE stacks SET newest_sequence_id = $2 WHERE id = $1")
        .bind(&stack.id)
        .bind(&object.sequence_id);
    tx.run(query).await?;
    note(tx, by, &object).await?;
    Ok(Submitted {
        object,
        replayed: false,
    })
}

/// The object that the same idempotency key made earlier, if it asked for the same.
async fn submitted_before(tx: &mut Transaction, new: &NewRevision) -> Result<Option<ObjectRef>> {
    let Some(key) = &new.idempotency_key else {
        return Ok(None);
    };
    let query = sql("SELECT * FROM deployment_objects \
         WHERE stack_id = $1 AND idempotency_key = $2")
    .bind(&new.stack_id)
    .bind(key);
    let Some(earlier) = tx.one(query).await?.as_ref().map(object).transpose()? else {
        return Ok(None);
    };
    let same = earlier.yaml_checksum == Checksum::of(&new.yaml_content)
        && earlier.kind.removes() == new.is_deletion_marker
        && earlier.take_from == new.take_from;
    if same {
        Ok(Some(earlier))
    } else {
        Err(Error::KeyReused {
            stack: new.stack_id,
            key: key.clone(),
        })
    }
}

fn check_newest(stack: &Stack, new: &NewRevision) -> Result<()> {
    match new.if_newest {
        Some(expected) if expected != stack.newest_sequence_id => Err(Error::Stale {
            stack: stack.id,
            expected,
            newest: stack.newest_sequence_id,
        }),
        _ => Ok(()),
    }
}

/// Objects can be taken over from other stacks of the same generator only.
async fn check_takeover(tx: &mut Transaction, stack: &Stack, new: &NewRevision) -> Result<()> {
    for &from in &new.take_from {
        let other = living::refer::<Stack>(tx, from, "deployment_objects_take_from_fkey").await?;
        if from == stack.id || other.generator_id != stack.generator_id {
            return Err(Error::NoTakeover {
                stack: stack.id,
                from,
            });
        }
    }
    Ok(())
}

/// Appends an object that asks agents to remove the stack.
pub(super) async fn append_removal(
    tx: &mut Transaction,
    stack: StackId,
    kind: ObjectKind,
) -> Result<SequenceId> {
    Ok(append(tx, kind, NewRevision::of(stack, ""))
        .await?
        .sequence_id)
}

async fn append(tx: &mut Transaction, kind: ObjectKind, new: NewRevision) -> Result<ObjectRef> {
    let object = ObjectRef {
        id: tx.id(),
        sequence_id: tx.sequence(),
        stack_id: new.stack_id,
        kind,
        yaml_checksum: keep_manifest(tx, &new.yaml_content).await?,
        submitted_at: tx.now(),
        take_from: new.take_from,
    };
    let query = sql("INSERT INTO deployment_objects \
         (sequence_id, id, stack_id, kind, yaml_checksum, submitted_at, idempotency_key, \
          take_from) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)")
    .bind(&object.sequence_id)
    .bind(&object.id)
    .bind(&object.stack_id)
    .bind(&kind)
    .bind(&object.yaml_checksum)
    .bind(&object.submitted_at)
    .bind(&new.idempotency_key)
    .json(&object.take_from);
    tx.run(query).await?;
    Ok(object)
}

async fn keep_manifest(tx: &mut Transaction, text: &str) -> Result<Checksum> {
    let checksum = Checksum::of(text);
    let query = sql("INSERT INTO manifests (checksum, content) VALUES ($1, $2) \
         ON CONFLICT DO NOTHING")
    .bind(&checksum)
    .bind(&text.as_bytes().to_vec());
    tx.run(query).await?;
    Ok(checksum)
}

async fn note(tx: &mut Transaction, by: &Actor, object: &ObjectRef) -> Result<()> {
    let action = match object.kind {
        ObjectKind::Revision => Action::DeploymentCreated,
        ObjectKind::Deletion | ObjectKind::Release => Action::DeploymentDeleted,
    };
    let details = json!({
        "deployment_object_id": object.id,
        "stack_id": object.stack_id,
        "sequence_id": object.sequence_id,
        "yaml_checksum": object.yaml_checksum,
    });
    tx.record(
        by,
        Fact::new(
            action,
            Subject::Stack {
                id: object.stack_id,
            },
            details,
        ),
    )
    .await
}

/// The object that something refers to with `constraint`.
pub(super) async fn refer(
    tx: &mut Transaction,
    id: DeploymentId,
    constraint: &str,
) -> Result<ObjectRef> {
    let query = sql("SELECT * FROM deployment_objects WHERE id = $1").bind(&id);
    let found = tx.one(query).await?.as_ref().map(object).transpose()?;
    found.ok_or_else(|| Error::missing(constraint))
}

fn object(row: &Row) -> Result<ObjectRef> {
    Ok(ObjectRef {
        id: row.get("id")?,
        sequence_id: row.get("sequence_id")?,
        stack_id: row.get("stack_id")?,
        kind: row.get("kind")?,
        yaml_checksum: row.get("yaml_checksum")?,
        submitted_at: row.get("submitted_at")?,
        take_from: row.json("take_from")?,
    })
}

fn whole(row: &Row) -> Result<DeploymentObject> {
    Ok(DeploymentObject {
        object: object(row)?,
        yaml_content: content(row)?,
    })
}

fn content(row: &Row) -> Result<String> {
    text(row, "content")
}

/// A text that is kept as its bytes.
pub(super) fn text(row: &Row, column: &str) -> Result<String> {
    String::from_utf8(row.get(column)?).map_err(|error| Error::Unreadable {
        column: column.to_owned(),
        source: Arc::new(error),
    })
}
