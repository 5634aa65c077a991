//! `generator create` and its sisters: the tenants.

use anyhow::Context;
use clap::{Args, Subcommand};
use evenkeel_api::{GeneratorUpdate, NewGenerator};
use evenkeel_model::Name;

use super::ask::may_go_on;
use crate::exit::Exit;
use crate::noun::generator::GeneratorRow;
use crate::remote::{Session, Verb};

/// Manage generators: the tenants, each the owner of stacks.
#[derive(Debug, Args)]
pub(crate) struct GeneratorNoun {
    #[command(subcommand)]
    verb: GeneratorVerb,
}

#[derive(Debug, Subcommand)]
enum GeneratorVerb {
    /// Make a generator, and print its key, this once.
    #[command(after_help = "\
Examples:
  evenkeel generator create payments --description 'The payments team'
  evenkeel generator create ci -o json | jq -r .key")]
    Create(Create),
    /// Let a generator write.
    #[command(after_help = "Example:\n  evenkeel generator activate payments")]
    Activate(One),
    /// Let a generator rest: it can read, but submit nothing.
    #[command(after_help = "Example:\n  evenkeel generator deactivate payments")]
    Deactivate(One),
    /// Replace a generator's key; the old one ends at once.
    #[command(after_help = "Example:\n  evenkeel generator rotate-key payments")]
    RotateKey(One),
    /// Delete a generator with all its stacks, and their objects in every cluster.
    #[command(after_help = "Example:\n  evenkeel generator remove payments --yes")]
    Remove(Remove),
}

#[derive(Debug, Args)]
struct Create {
    /// Its name.
    name: Name,

    /// For people.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

#[derive(Debug, Args)]
struct One {
    /// The generator.
    generator: String,
}

#[derive(Debug, Args)]
struct Remove {
    /// The generator.
    generator: String,

    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
}

impl Verb for GeneratorNoun {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        match self.verb {
            GeneratorVerb::Create(options) => create(session, options).await?,
            GeneratorVerb::Activate(one) => set_active(session, one, true).await?,
            GeneratorVerb::Deactivate(one) => set_active(session, one, false).await?,
            GeneratorVerb::RotateKey(one) => rotate_key(session, one).await?,
            GeneratorVerb::Remove(options) => return remove(session, options).await,
        }
        Ok(Exit::Done)
    }
}

async fn create(session: &Session, options: Create) -> anyhow::Result<()> {
    let new = NewGenerator {
        name: options.name,
        description: options.description,
    };
    let made = session.client.generator_create(&new).await;
    let made = made.with_context(|| format!("cannot create generator {}", new.name))?;
    let sentence = format!(
        "generator/{} created\nIts key, shown only now:\n  {}",
        new.name, made.pak
    );
    let row = GeneratorRow {
        generator: made.generator,
        key: Some(made.pak),
    };
    Ok(session.out.done(&row, &sentence)?)
}

async fn set_active(session: &Session, one: One, active: bool) -> anyhow::Result<()> {
    let generator = session.generator(&one.generator).await?;
    let update = GeneratorUpdate {
        is_active: Some(active),
        ..GeneratorUpdate::default()
    };
    let changed = session
        .client
        .generator_update(generator.id, &update)
        .await?;
    let word = if active { "activated" } else { "deactivated" };
    let sentence = format!("generator/{} {word}", changed.name);
    Ok(session.out.done(&GeneratorRow::from(changed), &sentence)?)
}

async fn rotate_key(session: &Session, one: One) -> anyhow::Result<()> {
    let generator = session.generator(&one.generator).await?;
    let made = session.client.generator_rotate(generator.id).await?;
    let sentence = format!(
        "generator/{} has a new key, shown only now; the old one has ended:\n  {}",
        generator.name, made.pak
    );
    let row = GeneratorRow {
        generator: made.generator,
        key: Some(made.pak),
    };
    Ok(session.out.done(&row, &sentence)?)
}

async fn remove(session: &Session, options: Remove) -> anyhow::Result<Exit> {
    let generator = session.generator(&options.generator).await?;
    let mut stacks = session.stacks(&[]).await?;
    stacks.retain(|stack| stack.generator_id == generator.id);
    let (name, count) = (generator.name.clone(), stacks.len());
    let question = format!("Delete generator {name} with its {count} stacks, in every cluster?");
    if !may_go_on(options.yes, &question)? {
        session.out.say("nothing was removed")?;
        return Ok(Exit::Failed);
    }
    session.client.generator_delete(generator.id).await?;
    let sentence = format!("generator/{name} removed with {count} stacks");
    session
        .out
        .done(&GeneratorRow::from(generator), &sentence)?;
    Ok(Exit::Done)
}
