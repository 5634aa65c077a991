//! `operator diff`: what the Agent operator would change in a cluster.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use evenkeel_agent_operator::operator::preview::Preview;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_kubeset::{Fate, ObjectDiff};
use evenkeel_model::{DiffChange, ObjectKey};

use super::render::Input;
use crate::agent::connect::connect;
use crate::agent::settings::KubernetesSection;
use crate::exit::Exit;
use crate::noun::change::Change;
use crate::output::tone::Palette;
use crate::verb::diff::render;

/// Show what the operator would change in a cluster if its agents were those in the files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel operator diff -f agents/ --kubeconfig eu-1.yaml

Nothing is written. Ends with code 3 if there are differences. Values in Secrets are shown as short
hashes. Give the Secrets of the models too, or the hash of their contents counts as a difference.")]
pub(crate) struct Diff {
    #[command(flatten)]
    input: Input,

    /// The cluster's kubeconfig [default: the cluster that this runs in].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The context in the kubeconfig [default: its current one].
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    kube_context: Option<String>,
}

impl Diff {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let texts = self.input.source.texts()?;
        let agents = self.input.translated(&texts, true)?;
        let section = KubernetesSection {
            kubeconfig: self.kubeconfig,
            context: self.kube_context,
        };
        let client = connect(&section).await?.client;
        let preview = Preview::new(client, Arc::new(SystemClock), Arc::new(SystemRandom));
        let mut changes = Vec::new();
        for (agent, translation) in &agents {
            let objects = preview.diff(agent, translation).await?;
            for held in objects.iter().filter(|object| is_held(object)) {
                writeln!(io::stderr(), "{}: {}", held.key, held.why)?;
            }
            changes.extend(objects.into_iter().filter_map(change));
        }
        if changes.is_empty() {
            writeln!(io::stdout(), "no differences")?;
            return Ok(Exit::Done);
        }
        let text = render::text(&changes, Palette::Plain);
        io::stdout().write_all(text.as_bytes())?;
        Ok(Exit::Differs)
    }
}

fn is_held(object: &ObjectDiff) -> bool {
    matches!(object.fate, Fate::Held | Fate::Error)
}

fn change(object: ObjectDiff) -> Option<Change> {
    let change = match object.fate {
        Fate::Create => DiffChange::Create,
        Fate::Update => DiffChange::Update,
        Fate::Delete => DiffChange::Delete,
        Fate::Release | Fate::Unchanged | Fate::Held | Fate::Error => return None,
    };
    let key = ObjectKey {
        group: object.key.kind.group.clone(),
        kind: object.key.kind.kind.clone(),
        namespace: object.key.namespace,
        name: object.key.name,
    };
    let diff = evenkeel_model::ObjectDiff {
        object: key,
        change,
        before: object.before,
        after: object.after,
        message: None,
    };
    Some(Change { agent: None, diff })
}
