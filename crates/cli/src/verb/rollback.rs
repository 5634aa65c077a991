//! `rollback`: what an old revision said becomes the newest again.

use anyhow::bail;
use clap::Args;
use evenkeel_api::{DeploymentObject, ListQuery, Stack};
use evenkeel_client::Submit;
use evenkeel_model::{ObjectKind, SequenceId};

use super::apply::submit_text;
use super::wait::WaitOptions;
use crate::exit::Exit;
use crate::noun::stack::StackRow;
use crate::remote::{Session, Verb};

/// Make the content of an old revision the newest again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel rollback shop                 to the revision before the newest
  evenkeel rollback shop --to 7 --wait
  evenkeel history shop                  which revisions there are

Nothing is rewound: the old content is submitted as a new revision, and history keeps both.")]
pub(crate) struct Rollback {
    /// The stack: its name, or generator/name.
    stack: String,

    /// The revision whose content is wanted [default: the one before the newest].
    #[arg(long, value_name = "REVISION")]
    to: Option<SequenceId>,

    #[command(flatten)]
    wait: WaitOptions,
}

impl Verb for Rollback {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let stack = session.stack(&self.stack).await?;
        let old = self.wanted(session, &stack).await?;
        let text = old.yaml_content.unwrap_or_default();
        let submit = Submit {
            if_newest: stack.newest_sequence_id,
            idempotency_key: None,
        };
        let made = submit_text(session, &stack, text, &submit).await?;
        let (name, new) = (&stack.name, made.sequence_id);
        let sentence = format!(
            "stack/{name} rolled back to the content of revision {}, as revision {new}",
            old.sequence_id
        );
        let row = StackRow::of(session, session.client.stack_get(stack.id).await?).await?;
        session.out.done(&row, &sentence)?;
        self.wait.wait(session, &stack, Some(new)).await?;
        Ok(Exit::Done)
    }
}

impl Rollback {
    async fn wanted(&self, session: &Session, stack: &Stack) -> anyhow::Result<DeploymentObject> {
        let all = session
            .client
            .deployment_list(stack.id, &ListQuery::default())
            .await?
            .items;
        let revisions = || {
            all.iter()
                .filter(|object| object.kind == ObjectKind::Revision)
        };
        let is_wanted = |object: &&DeploymentObject| match self.to {
            Some(sequence) => object.sequence_id == sequence,
            None => Some(object.sequence_id) != stack.newest_sequence_id,
        };
        match (revisions().find(is_wanted), self.to) {
            (Some(found), _) => Ok(found.clone()),
            (None, Some(sequence)) => {
                let known: Vec<_> = revisions().map(|one| one.sequence_id.to_string()).collect();
                bail!(
                    "stack {} has no revision {sequence}; it has {}",
                    stack.name,
                    known.join(", ")
                )
            }
            (None, None) => bail!("stack {} has no revision before the newest", stack.name),
        }
    }
}
