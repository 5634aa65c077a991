//! `target add` and `target remove`: which agents get a stack.

use anyhow::Context;
use clap::{Args, Subcommand};
use evenkeel_api::{NewStackAnnotation, Stack};
use evenkeel_model::Label;

use super::agent::Annotation;
use super::apply::unless_there;
use crate::exit::Exit;
use crate::noun::tie::Tie;
use crate::remote::{Session, Verb};

/// Say which agents get a stack.
#[derive(Debug, Args)]
pub(crate) struct TargetNoun {
    #[command(subcommand)]
    verb: TargetVerb,
}

#[derive(Debug, Subcommand)]
enum TargetVerb {
    /// List who gets which stack, and why.
    #[command(after_help = "Example:\n  evenkeel target list shop")]
    List {
        /// Only of these stacks.
        stacks: Vec<String>,
    },
    /// Let agents get a stack: by name, by label or by annotation.
    #[command(after_help = "\
Examples:
  evenkeel target add shop --agent eu-1
  evenkeel target add shop --label region=eu
  evenkeel target add shop --annotation owner=platform")]
    Add(Who),
    /// Let agents no longer get a stack: they remove its objects.
    #[command(after_help = "\
Examples:
  evenkeel target remove shop --agent eu-1
  evenkeel target remove shop --label region=eu")]
    Remove(Who),
}

#[derive(Debug, Args)]
struct Who {
    /// The stack: its name, or generator/name.
    stack: String,

    /// This agent; can be given several times.
    #[arg(long, value_name = "NAME", required_unless_present_any = ["label", "annotation"])]
    agent: Vec<String>,

    /// Agents with this label; can be given several times.
    #[arg(long, value_name = "LABEL")]
    label: Vec<Label>,

    /// Agents with this annotation; can be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    annotation: Vec<Annotation>,
}

impl Verb for TargetNoun {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let who = match self.verb {
            TargetVerb::List { stacks } => {
                session.out.list(&Tie::all(session, &stacks, &[]).await?)?;
                return Ok(Exit::Done);
            }
            TargetVerb::Add(who) => {
                add(session, &who).await?;
                who
            }
            TargetVerb::Remove(who) => {
                remove(session, &who).await?;
                who
            }
        };
        session
            .out
            .list(&Tie::all(session, &[who.stack], &[]).await?)?;
        Ok(Exit::Done)
    }
}

async fn add(session: &Session, who: &Who) -> anyhow::Result<()> {
    let stack: Stack = session.stack(&who.stack).await?;
    let client = &session.client;
    for name in &who.agent {
        let agent = session.agent(name).await?;
        unless_there(client.target_create(agent.id, stack.id).await)?;
    }
    for label in &who.label {
        unless_there(client.stack_label_add(stack.id, label).await)?;
    }
    for Annotation { key, value } in &who.annotation {
        let new = NewStackAnnotation {
            stack_id: Some(stack.id),
            key: key.clone(),
            value: value.clone(),
        };
        unless_there(client.stack_annotation_add(stack.id, &new).await)?;
    }
    Ok(())
}

async fn remove(session: &Session, who: &Who) -> anyhow::Result<()> {
    let stack = session.stack(&who.stack).await?;
    let (client, name) = (&session.client, &stack.name);
    for agent in &who.agent {
        let agent = session.agent(agent).await?;
        let removed = client.target_delete(agent.id, stack.id).await;
        removed.with_context(|| format!("stack {name} is not tied to agent {}", agent.name))?;
    }
    for label in &who.label {
        let removed = client.stack_label_remove(stack.id, label).await;
        removed.with_context(|| format!("stack {name} has no label {label}"))?;
    }
    for Annotation { key, .. } in &who.annotation {
        let removed = client.stack_annotation_remove(stack.id, key).await;
        removed.with_context(|| format!("stack {name} has no annotation {key}"))?;
    }
    Ok(())
}
