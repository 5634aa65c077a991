//! `agent manifests`: what an agent needs in its cluster.

use std::io::{self, Write};

use clap::Args;

use crate::exit::Exit;

const INSTALL: &str = include_str!("../../../../deploy/agent/install.yaml");
const CLUSTER: &str = include_str!("../../../../deploy/agent/cluster.yaml");
const NAMESPACED: &str = include_str!("../../../../deploy/agent/namespaced.yaml");
/// What the files in `deploy/agent` call the agent's own namespace, and one that it serves.
const HOME: &str = "evenkeel-system";
const SERVED: &str = "served-namespace";

/// Print what an agent needs in its cluster: its account, its rights, its Deployment.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel agent manifests | kubectl apply -f -
  evenkeel agent manifests --only-in shop --only-in bank      rights in two namespaces and nowhere else
  kubectl -n evenkeel-system create secret generic evenkeel-agent-key --from-file=key=agent.key")]
pub(super) struct Manifests {
    /// The agent's own namespace.
    #[arg(long, value_name = "NAME", default_value = HOME)]
    namespace: String,

    /// A namespace that the agent may work in, and in no other; can be given several times
    /// [default: the whole cluster].
    #[arg(long, value_name = "NAME")]
    only_in: Vec<String>,

    /// The broker's address.
    #[arg(long, value_name = "URL", default_value = "https://broker.example.com")]
    broker_url: String,

    /// Only the rights, without the Deployment.
    #[arg(long)]
    rights_only: bool,
}

impl Manifests {
    pub(super) fn print(&self) -> anyhow::Result<Exit> {
        write!(io::stdout(), "{}", self.text())?;
        Ok(Exit::Done)
    }

    fn text(&self) -> String {
        let rights = match self.only_in.as_slice() {
            [] => CLUSTER.to_owned(),
            served => served
                .iter()
                .map(|name| NAMESPACED.replace(SERVED, name))
                .collect(),
        };
        let install = if self.rights_only { "" } else { INSTALL };
        let only_in = format!("agent.namespaces=[{}]", self.only_in.join(", "));
        let text = format!("{install}{rights}").replace(HOME, &self.namespace);
        text.replace("https://broker.example.com", &self.broker_url)
            .replace("agent.namespaces=[]", &only_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(only_in: &[&str]) -> String {
        Manifests {
            namespace: "home".into(),
            only_in: only_in.iter().map(|name| (*name).to_owned()).collect(),
            broker_url: "https://b".into(),
            rights_only: false,
        }
        .text()
    }

    #[test]
    fn rights_are_for_the_cluster_or_for_the_namespaces_that_are_named() {
        let whole = text(&[]);
        assert!(
            whole.contains("kind: ClusterRoleBinding") && !whole.contains(HOME),
            "{whole}"
        );
        let two = text(&["shop", "bank"]);
        assert!(!two.contains("kind: ClusterRole"), "{two}");
        assert!(
            two.contains("namespace: shop") && two.contains("namespace: bank"),
            "{two}"
        );
        evenkeel_manifest::parse(&two, evenkeel_manifest::Limits::NONE).unwrap();
    }
}
