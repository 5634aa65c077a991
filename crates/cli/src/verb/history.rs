//! `history`: the revisions of a stack.

use clap::Args;
use evenkeel_api::{DeploymentObject, Stack};

use super::get::first;
use crate::exit::Exit;
use crate::noun::revision::RevisionRow;
use crate::remote::{Session, Verb};

/// Show the revisions of a stack, newest first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel history shop
  evenkeel history shop -o json | jq -r '.[0].yaml'     the manifests of the newest
  evenkeel rollback shop --to 7                         make an old one the newest again")]
pub(crate) struct History {
    /// The stack: its name, or generator/name.
    stack: String,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

impl Verb for History {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let stack = session.stack(&self.stack).await?;
        session
            .out
            .list(&revisions(session, stack, self.limit).await?)?;
        Ok(Exit::Done)
    }
}

/// The newest revisions of a stack.
pub(super) async fn revisions(
    session: &Session,
    stack: Stack,
    limit: u32,
) -> anyhow::Result<Vec<RevisionRow>> {
    let objects = session
        .client
        .deployment_list(stack.id, &first(limit))
        .await?
        .items;
    let newest = objects
        .iter()
        .find(|object| Some(object.sequence_id) == stack.newest_sequence_id)
        .map(|object| object.yaml_checksum.clone());
    let row = |object: DeploymentObject| RevisionRow {
        stack: stack.name.to_string(),
        is_newest: Some(object.sequence_id) == stack.newest_sequence_id,
        same_as_newest: newest.as_ref() == Some(&object.yaml_checksum),
        object,
    };
    Ok(objects.into_iter().map(row).collect())
}
