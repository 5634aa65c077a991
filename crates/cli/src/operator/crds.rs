//! `operator crds` and `operator rights`: what a cluster has to be told before operators run in it.

use std::io::{self, Write};

use clap::Args;
use prometheus_client::registry::Registry;

use super::list::named;
use super::running::{Run, nobody};
use crate::exit::Exit;
use crate::output::yaml;

/// Print the definitions of the resources that the operators serve.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel operator crds | kubectl apply --server-side -f -
  evenkeel operator crds shape > deploy/crds/shape.yaml")]
pub(crate) struct Crds {
    /// Only those of these operators.
    operator: Vec<String>,
}

impl Crds {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let operators = named(&self.operator)?;
        for definition in operators
            .iter()
            .flat_map(|operator| (operator.definitions)())
        {
            let definition = serde_json::to_value(&definition)?;
            write!(io::stdout(), "---\n{}", yaml(&definition))?;
        }
        Ok(Exit::Done)
    }
}

/// Print the role with the rights that the operators need, and no more.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  evenkeel operator rights --shapes-cloud http://shapes | kubectl apply -f -")]
pub(crate) struct Rights {
    #[command(flatten)]
    run: Run,
}

impl Rights {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let manager = self.run.manager(nobody(), &mut Registry::default())?;
        let role = serde_json::to_value(manager.rights().role("evenkeel-operator"))?;
        write!(io::stdout(), "---\n{}", yaml(&role))?;
        Ok(Exit::Done)
    }
}
