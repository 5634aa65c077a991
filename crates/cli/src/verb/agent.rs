//! `agent create` and its sisters: the agents that the broker knows.

use std::str::FromStr;

use anyhow::Context;
use clap::{Args, Subcommand};
use evenkeel_api::{Agent, AgentUpdate, NewAgent, NewAgentAnnotation};
use evenkeel_model::{AgentStatus, AnnotationKey, AnnotationValue, Label, Name};

use super::apply::unless_there;
use super::ask::may_go_on;
use crate::exit::Exit;
use crate::noun::agent::AgentRow;
use crate::remote::Session;

/// What can be done to an agent.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentVerb {
    /// Make an agent known to the broker, and print its key, this once.
    #[command(after_help = "\
Examples:
  evenkeel agent create eu-1 --label region=eu --activate
  evenkeel agent create eu-1 -o json | jq -r .key > eu-1.key")]
    Create(Create),
    /// Put labels on an agent, or take them away.
    #[command(after_help = "\
Examples:
  evenkeel agent label eu-1 region=eu tier=edge
  evenkeel agent label eu-1 --remove tier=edge

Stacks with one of the agent's labels are delivered to it. Taking a label away also takes away what
came through it.")]
    Label(LabelOptions),
    /// Put annotations on an agent, or take them away.
    #[command(after_help = "\
Examples:
  evenkeel agent annotate eu-1 owner=platform
  evenkeel agent annotate eu-1 --remove owner")]
    Annotate(AnnotateOptions),
    /// Let agents work.
    #[command(after_help = "Example:\n  evenkeel agent activate eu-1")]
    Activate(Named),
    /// Let agents rest: they get nothing and do nothing.
    #[command(after_help = "Example:\n  evenkeel agent deactivate eu-1")]
    Deactivate(Named),
    /// Let an agent serve a generator's stacks, or no longer.
    #[command(after_help = "\
Examples:
  evenkeel agent register eu-1 --generator payments
  evenkeel agent register eu-1 --generator payments --remove")]
    Register(Register),
    /// Forget an agent. What it put into its cluster stays there.
    #[command(after_help = "Example:\n  evenkeel agent remove eu-1 --yes")]
    Remove(Remove),
    /// Replace an agent's key; the old one ends at once.
    #[command(after_help = "Example:\n  evenkeel agent rotate-key eu-1 -o json | jq -r .key")]
    RotateKey(One),
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Its name.
    name: Name,

    /// The cluster that it serves [default: its name].
    #[arg(long, value_name = "NAME")]
    cluster: Option<Name>,

    /// A label; can be given several times.
    #[arg(long, value_name = "LABEL")]
    label: Vec<Label>,

    /// A generator whose stacks it serves; can be given several times [default: the only one, or
    /// `default`].
    #[arg(long, value_name = "NAME")]
    generator: Vec<String>,

    /// Let it work at once.
    #[arg(long)]
    activate: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelOptions {
    /// The agent: its name, or cluster/name.
    agent: String,

    /// Labels to add.
    #[arg(required_unless_present = "remove")]
    labels: Vec<Label>,

    /// A label to take away; can be given several times.
    #[arg(long, value_name = "LABEL")]
    remove: Vec<Label>,
}

#[derive(Debug, Args)]
pub(crate) struct AnnotateOptions {
    /// The agent: its name, or cluster/name.
    agent: String,

    /// Annotations to add.
    #[arg(required_unless_present = "remove", value_name = "KEY=VALUE")]
    annotations: Vec<Annotation>,

    /// The key of an annotation to take away; can be given several times.
    #[arg(long, value_name = "KEY")]
    remove: Vec<AnnotationKey>,
}

/// A key with its value, as people write it.
#[derive(Debug, Clone)]
pub(crate) struct Annotation {
    pub(crate) key: AnnotationKey,
    pub(crate) value: AnnotationValue,
}

impl FromStr for Annotation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("write it as key=value")?;
        let key = key.parse().map_err(|error| format!("{error}"))?;
        let value = value.parse().map_err(|error| format!("{error}"))?;
        Ok(Self { key, value })
    }
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The agents: their names, or cluster/name.
    #[arg(required = true)]
    agents: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// The agent: its name, or cluster/name.
    agent: String,
}

#[derive(Debug, Args)]
pub(crate) struct Register {
    /// The agent: its name, or cluster/name.
    agent: String,

    /// The generator.
    #[arg(long, value_name = "NAME")]
    generator: String,

    /// No longer.
    #[arg(long)]
    remove: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The agent: its name, or cluster/name.
    agent: String,

    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
}

impl AgentVerb {
    /// Does it.
    pub(crate) async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        match self {
            Self::Create(options) => create(session, options).await?,
            Self::Label(options) => label(session, options).await?,
            Self::Annotate(options) => annotate(session, options).await?,
            Self::Activate(named) => set_status(session, named, AgentStatus::Active).await?,
            Self::Deactivate(named) => set_status(session, named, AgentStatus::Inactive).await?,
            Self::Register(options) => register(session, options).await?,
            Self::Remove(options) => return remove(session, options).await,
            Self::RotateKey(one) => rotate_key(session, one).await?,
        }
        Ok(Exit::Done)
    }
}

async fn create(session: &Session, options: Create) -> anyhow::Result<()> {
    let mut generators = Vec::new();
    for name in &options.generator {
        generators.push(session.generator(name).await?.id);
    }
    if generators.is_empty() {
        generators.push(session.generator_or_default(None).await?.id);
    }
    let new = NewAgent {
        cluster_name: options.cluster.unwrap_or_else(|| options.name.clone()),
        name: options.name,
        generator_ids: Some(generators),
    };
    let made = session.client.agent_create(&new).await;
    let made = made.with_context(|| format!("cannot create agent {}", new.name))?;
    add_labels(session, &made.agent, &options.label).await?;
    if options.activate {
        update_status(session, &made.agent, AgentStatus::Active).await?;
    }
    let agent = session.client.agent_get(made.agent.id).await?;
    let (name, key) = (&agent.name, &made.initial_pak);
    let sentence = format!(
        "agent/{name} created ({})\nIts key, shown only now:\n  {key}",
        agent.status
    );
    let row = AgentRow::of(session, agent.clone())
        .await?
        .with_key(key.clone());
    Ok(session.out.done(&row, &sentence)?)
}

async fn add_labels(session: &Session, agent: &Agent, labels: &[Label]) -> anyhow::Result<()> {
    for label in labels {
        let added = session.client.agent_label_add(agent.id, label).await;
        unless_there(added).with_context(|| format!("cannot label agent {}", agent.name))?;
    }
    Ok(())
}

async fn label(session: &Session, options: LabelOptions) -> anyhow::Result<()> {
    let agent = session.agent(&options.agent).await?;
    add_labels(session, &agent, &options.labels).await?;
    for label in &options.remove {
        let removed = session.client.agent_label_remove(agent.id, label).await;
        removed.with_context(|| format!("cannot take {label} from agent {}", agent.name))?;
    }
    changed(session, agent, "labelled").await
}

async fn annotate(session: &Session, options: AnnotateOptions) -> anyhow::Result<()> {
    let agent = session.agent(&options.agent).await?;
    for Annotation { key, value } in options.annotations {
        let new = NewAgentAnnotation {
            agent_id: Some(agent.id),
            key,
            value,
        };
        let added = session.client.agent_annotation_add(agent.id, &new).await;
        unless_there(added).with_context(|| format!("cannot annotate agent {}", agent.name))?;
    }
    for key in &options.remove {
        let removed = session.client.agent_annotation_remove(agent.id, key).await;
        removed.with_context(|| format!("cannot take {key} from agent {}", agent.name))?;
    }
    changed(session, agent, "annotated").await
}

async fn set_status(session: &Session, named: Named, status: AgentStatus) -> anyhow::Result<()> {
    for name in &named.agents {
        let agent = session.agent(name).await?;
        let agent = update_status(session, &agent, status).await?;
        let word = match status {
            AgentStatus::Active => "activated",
            AgentStatus::Inactive => "deactivated",
        };
        changed(session, agent, word).await?;
    }
    Ok(())
}

async fn update_status(
    session: &Session,
    agent: &Agent,
    status: AgentStatus,
) -> anyhow::Result<Agent> {
    let update = AgentUpdate {
        status: Some(status),
        ..AgentUpdate::default()
    };
    Ok(session.client.agent_update(agent.id, &update).await?)
}

async fn register(session: &Session, options: Register) -> anyhow::Result<()> {
    let agent = session.agent(&options.agent).await?;
    let generator = session.generator(&options.generator).await?;
    if options.remove {
        session
            .client
            .registration_delete(generator.id, agent.id)
            .await?;
        return changed(
            session,
            agent,
            &format!("no longer serves {}", generator.name),
        )
        .await;
    }
    unless_there(
        session
            .client
            .registration_create(generator.id, agent.id)
            .await,
    )?;
    changed(session, agent, &format!("serves {}", generator.name)).await
}

async fn remove(session: &Session, options: Remove) -> anyhow::Result<Exit> {
    let agent = session.agent(&options.agent).await?;
    let row = AgentRow::of(session, agent).await?;
    let name = row.agent.name.clone();
    let question = format!("Forget agent {name}? What it put into its cluster stays there.");
    if !may_go_on(options.yes, &question)? {
        session.out.say("nothing was removed")?;
        return Ok(Exit::Failed);
    }
    session.client.agent_delete(row.agent.id).await?;
    session.out.done(&row, &format!("agent/{name} removed"))?;
    Ok(Exit::Done)
}

async fn rotate_key(session: &Session, one: One) -> anyhow::Result<()> {
    let agent = session.agent(&one.agent).await?;
    let rotated = session.client.agent_rotate(agent.id).await?;
    let (name, key) = (&agent.name, &rotated.pak);
    let sentence =
        format!("agent/{name} has a new key, shown only now; the old one has ended:\n  {key}");
    let row = AgentRow::of(session, rotated.agent)
        .await?
        .with_key(key.clone());
    Ok(session.out.done(&row, &sentence)?)
}

async fn changed(session: &Session, agent: Agent, what: &str) -> anyhow::Result<()> {
    let row = AgentRow::of(session, agent).await?;
    let sentence = format!("agent/{} {what}", row.agent.name);
    Ok(session.out.done(&row, &sentence)?)
}
