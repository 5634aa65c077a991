//! `stack move`: objects change their stack without being deleted and made again; and what else
//! is done to stacks as such.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use evenkeel_api::{NewDeployment, NewStack, NewStackAnnotation, Stack};
use evenkeel_client::Submit;
use evenkeel_manifest::{Document, Limits, parse};
use serde_json::Value;

use super::ask::may_go_on;
use super::contents::newest_text;
use super::control::DriftMode;
use super::wait::{WaitOptions, duration};
use crate::exit::Exit;
use crate::noun::object;
use crate::noun::stack::StackRow;
use crate::output::yaml;
use crate::remote::failure::Trouble;
use crate::remote::{Session, Verb};

/// Manage stacks as such.
#[derive(Debug, Args)]
pub(crate) struct StackNoun {
    #[command(subcommand)]
    verb: StackVerb,
}

#[derive(Debug, Subcommand)]
enum StackVerb {
    Move(Move),
    DriftMode(DriftMode),
}

/// Move objects from one stack to another; nothing is deleted and made again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel stack move shop payments Deployment/shop/billing Service/shop/billing
  evenkeel stack move shop store --all        the stack gets another name

The new stack is submitted first, with leave to take the objects over. Only when every agent has
done so is the old one submitted without them; until then a failure leaves everything where it was.
A new stack that is not there yet is made with the targets of the old one.")]
struct Move {
    /// The stack that has the objects.
    from: String,

    /// The stack that gets them.
    to: String,

    /// The objects: Kind/name or Kind/namespace/name.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    objects: Vec<String>,

    /// All of them; the old stack is deleted at the end.
    #[arg(long)]
    all: bool,

    /// Do not ask.
    #[arg(short, long)]
    yes: bool,

    /// How long to wait until every agent has taken the objects over.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    timeout: Duration,
}

impl Verb for StackNoun {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        match self.verb {
            StackVerb::Move(order) => order.run(session).await,
            StackVerb::DriftMode(order) => order.run(session).await,
        }
    }
}

impl Move {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let from = session.stack(&self.from).await?;
        let (moving, staying) = self.split(&newest_text(session, &from).await?)?;
        let list: Vec<_> = moving.iter().map(shown).collect();
        let question = format!("Move {} to {}?", list.join(", "), self.to);
        if !may_go_on(self.yes, &question)? {
            session.out.say("nothing was moved")?;
            return Ok(Exit::Failed);
        }
        let to = self.destination(session, &from).await?;
        self.hand_over(session, &from, &to, &moving).await?;
        release(session, &from, &staying).await?;
        let row = StackRow::of(session, session.client.stack_get(to.id).await?).await?;
        let sentence = format!(
            "{} objects moved from stack/{} to stack/{}",
            list.len(),
            from.name,
            to.name
        );
        session.out.done(&row, &sentence)?;
        Ok(Exit::Done)
    }

    /// Those that move, and those that stay.
    fn split(&self, text: &str) -> anyhow::Result<(Vec<Document>, Vec<Document>)> {
        let all = parse(text, Limits::NONE)
            .with_context(|| format!("stack {} has nothing to move", self.from))?;
        let path = |one: &Document| object::path(&object::key(&one.id));
        for wanted in &self.objects {
            if !all.iter().any(|one| path(one) == *wanted) {
                let known: Vec<_> = all.iter().map(path).collect();
                bail!(
                    "stack {} has no {wanted}; it has {}",
                    self.from,
                    known.join(", ")
                );
            }
        }
        let (moving, staying): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|one| self.all || self.objects.contains(&path(one)));
        if staying.is_empty() && !self.all {
            let text = format!("nothing would be left of stack {}: say --all", self.from);
            return Err(Trouble::Usage(text).into());
        }
        Ok((moving, staying))
    }

    /// The stack that gets the objects; if it has to be made, with the targets of the old one.
    async fn destination(&self, session: &Session, from: &Stack) -> anyhow::Result<Stack> {
        if let Some(stack) = session.stack_if_there(&self.to).await? {
            return Ok(stack);
        }
        let new = NewStack {
            name: self.to.parse()?,
            description: from.description.clone(),
            generator_id: from.generator_id,
        };
        let made = session.client.stack_create(&new).await?;
        copy_targets(session, from, &made).await?;
        Ok(made)
    }

    /// Submits the new stack and waits until every agent has taken the objects over.
    async fn hand_over(
        &self,
        session: &Session,
        from: &Stack,
        to: &Stack,
        moving: &[Document],
    ) -> anyhow::Result<()> {
        let before = newest_text(session, to).await?;
        let new = NewDeployment {
            take_from: vec![from.id],
            ..NewDeployment::of(with(&before, moving))
        };
        let made = session
            .client
            .deployment_create(to.id, &new, &Submit::default())
            .await?;
        let wait = WaitOptions::within(self.timeout);
        wait.wait(session, to, Some(made.sequence_id)).await
    }
}

/// What is left of the old stack; if nothing is, it goes.
async fn release(session: &Session, from: &Stack, staying: &[Document]) -> anyhow::Result<()> {
    if staying.is_empty() {
        return Ok(session.client.stack_delete(from.id).await?);
    }
    let new = NewDeployment::of(text_of(staying));
    session
        .client
        .deployment_create(from.id, &new, &Submit::default())
        .await?;
    Ok(())
}

async fn copy_targets(session: &Session, from: &Stack, to: &Stack) -> anyhow::Result<()> {
    let client = &session.client;
    for one in client.stack_labels(from.id).await? {
        client.stack_label_add(to.id, &one.label).await?;
    }
    for one in client.stack_annotations(from.id).await? {
        let new = NewStackAnnotation {
            stack_id: Some(to.id),
            key: one.key,
            value: one.value,
        };
        client.stack_annotation_add(to.id, &new).await?;
    }
    for agent in session.agents().await?.into_keys() {
        let targets = client.target_list(agent).await?;
        if targets.iter().any(|target| target.stack_id == from.id) {
            client.target_create(agent, to.id).await?;
        }
    }
    Ok(())
}

/// The manifests with these objects; a second try finds them there already.
fn with(before: &str, moving: &[Document]) -> String {
    let mut all = parse(before, Limits::NONE).unwrap_or_default();
    let moves = |one: &Document| moving.iter().any(|other| other.id == one.id);
    all.retain(|one| !moves(one));
    text_of(&all) + &text_of(moving)
}

fn text_of(documents: &[Document]) -> String {
    let text = |one: &Document| format!("---\n{}", yaml(&Value::Object(one.object.clone())));
    documents.iter().map(text).collect()
}

fn shown(document: &Document) -> String {
    object::shown(&object::key(&document.id))
}
