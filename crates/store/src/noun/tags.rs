//! Labels and annotations, of agents and of stacks alike.

use async_trait::async_trait;
use evenkeel_model::{
    Action, Actor, Agent, AgentId, Annotation, AnnotationKey, Label, Stack, StackId, Subject,
};
use futures::FutureExt;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{assignments, living};
use crate::database::Database;
use crate::fact::Fact;
use crate::sql::{Query, Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// Who bears a label or annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// An agent.
    Agent(AgentId),
    /// A stack.
    Stack(StackId),
}

/// Labels and annotations. Every change assigns and releases stacks accordingly.
#[async_trait]
pub trait Tags {
    /// The owner's labels, sorted.
    async fn labels(&self, owner: Owner) -> Result<Vec<Label>>;

    /// Adds a label.
    async fn label_add(&self, by: &Actor, owner: Owner, label: Label) -> Result<()>;

    /// Takes a label away.
    async fn label_remove(&self, by: &Actor, owner: Owner, label: Label) -> Result<()>;

    /// The owner's annotations, sorted by key.
    async fn annotations(&self, owner: Owner) -> Result<Vec<Annotation>>;

    /// Adds an annotation; the key must be free.
    async fn annotation_add(&self, by: &Actor, owner: Owner, annotation: Annotation) -> Result<()>;

    /// Takes an annotation away.
    async fn annotation_remove(&self, by: &Actor, owner: Owner, key: AnnotationKey) -> Result<()>;
}

/// The statements for one kind of owner.
struct Statements {
    labels: &'static str,
    label_add: &'static str,
    label_remove: &'static str,
    annotations: &'static str,
    annotation_add: &'static str,
    annotation_remove: &'static str,
}

macro_rules! statements {
    ($owner:literal) => {
        Statements {
            labels: concat!(
                "SELECT label FROM ",
                $owner,
                "_labels WHERE owner_id = $1 ORDER BY label"
            ),
            label_add: concat!(
                "INSERT INTO ",
                $owner,
                "_labels (owner_id, label) VALUES ($1, $2)"
            ),
            label_remove: concat!(
                "DELETE FROM ",
                $owner,
                "_labels WHERE owner_id = $1 AND label = $2"
            ),
            annotations: concat!(
                "SELECT key, value FROM ",
                $owner,
                "_annotations WHERE owner_id = $1 ORDER BY key"
            ),
            annotation_add: concat!(
                "INSERT INTO ",
                $owner,
                "_annotations (owner_id, key, value) VALUES ($1, $2, $3)"
            ),
            annotation_remove: concat!(
                "DELETE FROM ",
                $owner,
                "_annotations WHERE owner_id = $1 AND key = $2"
            ),
        }
    };
}

#[derive(Clone, Copy)]
enum Tagged {
    Added,
    Removed,
}

static OF_AGENTS: Statements = statements!("agent");
static OF_STACKS: Statements = statements!("stack");

impl Owner {
    const fn statements(self) -> &'static Statements {
        match self {
            Self::Agent(_) => &OF_AGENTS,
            Self::Stack(_) => &OF_STACKS,
        }
    }

    const fn id(self) -> Uuid {
        match self {
            Self::Agent(id) => id.0,
            Self::Stack(id) => id.0,
        }
    }

    const fn subject(self) -> Subject {
        match self {
            Self::Agent(id) => Subject::Agent { id },
            Self::Stack(id) => Subject::Stack { id },
        }
    }

    const fn action(self, tagged: Tagged) -> Action {
        match (self, tagged) {
            (Self::Agent(_), Tagged::Added) => Action::AgentTagged,
            (Self::Agent(_), Tagged::Removed) => Action::AgentUntagged,
            (Self::Stack(_), Tagged::Added) => Action::StackTagged,
            (Self::Stack(_), Tagged::Removed) => Action::StackUntagged,
        }
    }

    fn tagging(
        self,
        by: &Actor,
        tagged: Tagged,
        query: Query,
        noun: &'static str,
        text: &impl ToString,
    ) -> Tagging {
        Tagging {
            by: by.clone(),
            owner: self,
            action: self.action(tagged),
            query,
            details: json!({ noun: text.to_string() }),
            missing: Error::not_found(noun, text),
        }
    }

    async fn require(self, tx: &mut Transaction) -> Result<()> {
        match self {
            Self::Agent(id) => living::require::<Agent>(tx, id).await.map(drop),
            Self::Stack(id) => living::require::<Stack>(tx, id).await.map(drop),
        }
    }

    async fn refresh(self, tx: &mut Transaction) -> Result<()> {
        match self {
            Self::Agent(id) => assignments::refresh_agent(tx, id).await,
            Self::Stack(id) => assignments::refresh_stack(tx, id).await,
        }
    }
}

#[async_trait]
impl Tags for Database {
    async fn labels(&self, owner: Owner) -> Result<Vec<Label>> {
        self.all(sql(owner.statements().labels).bind(&owner.id()), |row| {
            row.get("label")
        })
        .await
    }

    async fn label_add(&self, by: &Actor, owner: Owner, label: Label) -> Result<()> {
        let query = sql(owner.statements().label_add)
            .bind(&owner.id())
            .bind(&label);
        let tagging = owner.tagging(by, Tagged::Added, query, "label", &label);
        self.write(move |tx| tag(tx, tagging).boxed()).await
    }

    async fn label_remove(&self, by: &Actor, owner: Owner, label: Label) -> Result<()> {
        let query = sql(owner.statements().label_remove)
            .bind(&owner.id())
            .bind(&label);
        let tagging = owner.tagging(by, Tagged::Removed, query, "label", &label);
        self.write(move |tx| tag(tx, tagging).boxed()).await
    }

    async fn annotations(&self, owner: Owner) -> Result<Vec<Annotation>> {
        self.all(
            sql(owner.statements().annotations).bind(&owner.id()),
            annotation,
        )
        .await
    }

    async fn annotation_add(&self, by: &Actor, owner: Owner, annotation: Annotation) -> Result<()> {
        let Annotation { key, value } = annotation;
        let query = sql(owner.statements().annotation_add)
            .bind(&owner.id())
            .bind(&key)
            .bind(&value);
        let text = format!("{key}={value}");
        let tagging = owner.tagging(by, Tagged::Added, query, "annotation", &text);
        self.write(move |tx| tag(tx, tagging).boxed()).await
    }

    async fn annotation_remove(&self, by: &Actor, owner: Owner, key: AnnotationKey) -> Result<()> {
        let query = sql(owner.statements().annotation_remove)
            .bind(&owner.id())
            .bind(&key);
        let tagging = owner.tagging(by, Tagged::Removed, query, "annotation", &key);
        self.write(move |tx| tag(tx, tagging).boxed()).await
    }
}

/// A change of an owner's tags.
struct Tagging {
    by: Actor,
    owner: Owner,
    action: Action,
    query: Query,
    details: Value,
    /// What to say when the statement touches nothing.
    missing: Error,
}

async fn tag(tx: &mut Transaction, tagging: Tagging) -> Result<()> {
    let Tagging {
        by,
        owner,
        action,
        query,
        details,
        missing,
    } = tagging;
    owner.require(tx).await?;
    if tx.run(query).await? == 0 {
        return Err(missing);
    }
    owner.refresh(tx).await?;
    tx.record(&by, Fact::new(action, owner.subject(), details))
        .await
}

fn annotation(row: &Row) -> Result<Annotation> {
    Ok(Annotation {
        key: row.get("key")?,
        value: row.get("value")?,
    })
}
