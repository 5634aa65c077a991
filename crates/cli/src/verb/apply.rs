//! `apply`: manifests become the newest revision of a stack.

use anyhow::Context;
use clap::Args;
use evenkeel_api::{DeploymentObject, NewDeployment, NewStack, Stack};
use evenkeel_client::{ClientError, Submit};
use evenkeel_model::{Checksum, Label, Name, ObjectKind};

use super::contents::newest;
use super::source::{Manifests, Source};
use super::wait::WaitOptions;
use crate::exit::Exit;
use crate::noun::stack::StackRow;
use crate::remote::{Session, Verb};

/// Make manifests the newest revision of a stack.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel apply -f shop/ --stack shop --to region=eu     every agent with that label gets it
  evenkeel apply -f shop.yaml --stack shop --wait         until every agent has it and it is well
  kustomize build . | evenkeel apply -f - --stack shop --agent eu-1

The stack is made if there is none. --to and --agent add targets and never take any away; that is
`evenkeel target remove`. An agent gets the stack if it has one of its labels.
Content that has not changed is not submitted again, unless --force says so.")]
pub(crate) struct Apply {
    #[command(flatten)]
    source: Source,

    /// The stack: its name, or generator/name.
    #[arg(long, value_name = "NAME")]
    stack: String,

    /// Deliver it to agents with this label, such as region=eu; can be given several times.
    #[arg(long, value_name = "LABEL")]
    to: Vec<Label>,

    /// Deliver it to this agent; can be given several times.
    #[arg(long = "agent", value_name = "NAME")]
    agents: Vec<String>,

    /// Whose the stack is, if it has to be made [default: the only one, or `default`].
    #[arg(long, value_name = "NAME")]
    generator: Option<String>,

    /// Submit unchanged content too, which makes every agent apply it again.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    wait: WaitOptions,
}

impl Verb for Apply {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let manifests = self.source.read()?;
        let (stack, is_new) = self.stack(session).await?;
        self.add_targets(session, &stack).await?;
        let newest = newest(session, &stack).await?;
        let (sequence, verdict) = match &newest {
            Some(newest) if !self.force && is_same(newest, &manifests) => {
                (newest.sequence_id, "unchanged")
            }
            _ => {
                let submit = Submit {
                    if_newest: newest.map(|newest| newest.sequence_id),
                    idempotency_key: None,
                };
                let submitted = submit_text(session, &stack, manifests.text, &submit).await?;
                (submitted.sequence_id, "submitted")
            }
        };
        let made = if is_new { "created, " } else { "" };
        let name = &stack.name;
        let count = manifests.documents.len();
        let sentence =
            format!("stack/{name} {made}revision {sequence} {verdict} ({count} objects)");
        let row = StackRow::of(session, session.client.stack_get(stack.id).await?).await?;
        session.out.done(&row, &sentence)?;
        self.wait.wait(session, &stack, Some(sequence)).await?;
        Ok(Exit::Done)
    }
}

impl Apply {
    /// The stack, and whether it had to be made.
    async fn stack(&self, session: &Session) -> anyhow::Result<(Stack, bool)> {
        if let Some(stack) = session.stack_if_there(&self.stack).await? {
            return Ok((stack, false));
        }
        let name: Name = self.stack.parse()?;
        let generator = session
            .generator_or_default(self.generator.as_deref())
            .await?;
        let new = NewStack {
            name,
            description: None,
            generator_id: generator.id,
        };
        let made = session.client.stack_create(&new).await;
        let made = made.with_context(|| format!("cannot create stack {}", self.stack))?;
        Ok((made, true))
    }

    async fn add_targets(&self, session: &Session, stack: &Stack) -> anyhow::Result<()> {
        for label in &self.to {
            let added = session.client.stack_label_add(stack.id, label).await;
            unless_there(added).with_context(|| format!("cannot label stack {}", stack.name))?;
        }
        for agent in &self.agents {
            let agent = session.agent(agent).await?;
            let added = session.client.target_create(agent.id, stack.id).await;
            unless_there(added)
                .with_context(|| format!("cannot target {} at agent {}", stack.name, agent.name))?;
        }
        Ok(())
    }
}

/// Being there already is as good as being added.
pub(super) fn unless_there<T>(added: Result<T, ClientError>) -> Result<(), ClientError> {
    match added {
        Err(error) if error.status() != Some(409) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Makes `text` the newest revision.
pub(super) async fn submit_text(
    session: &Session,
    stack: &Stack,
    text: String,
    submit: &Submit,
) -> anyhow::Result<DeploymentObject> {
    let new = NewDeployment {
        yaml_content: text,
        ..NewDeployment::default()
    };
    let made = session
        .client
        .deployment_create(stack.id, &new, submit)
        .await;
    made.with_context(|| format!("cannot submit a revision of stack {}", stack.name))
}

fn is_same(newest: &DeploymentObject, manifests: &Manifests) -> bool {
    newest.kind == ObjectKind::Revision && newest.yaml_checksum == Checksum::of(&manifests.text)
}
