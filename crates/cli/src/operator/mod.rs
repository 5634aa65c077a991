//! `operator`: controllers inside a cluster, and what they would do.

mod agents;
mod crds;
mod databases;
mod diff;
mod list;
mod manifests;
mod orphans;
mod render;
mod running;
mod shape;

use clap::{Args, Subcommand};

use crate::exit::Exit;
pub(crate) use list::ALL;
pub(crate) use running::{Run, operate};

/// Run controllers inside a cluster, and see what they would do.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  evenkeel operator --shapes-cloud http://shapes.example.com       in the cluster itself
  evenkeel operator --kubeconfig eu-1.yaml --shapes-cloud http://127.0.0.1:8383 --no-lease
  evenkeel operator crds | kubectl apply --server-side -f -        what the cluster has to know first
  evenkeel operator rights --only database | kubectl apply -f -    the rights it needs, and no more
  evenkeel operator --only database,agent                          not all of them
  evenkeel operator orphans --kubeconfig eu-1.yaml --shapes-cloud http://127.0.0.1:8383

Several processes may run; the one that holds the lease works, the others stand by with warm caches.
A process that loses the lease stops at once and ends."
)]
pub(crate) struct OperatorNoun {
    #[command(flatten)]
    run: Run,

    #[command(subcommand)]
    verb: Option<OperatorVerb>,
}

#[derive(Debug, Subcommand)]
enum OperatorVerb {
    Manifests(manifests::Manifests),
    Crds(crds::Crds),
    Rights(crds::Rights),
    Orphans(orphans::Orphans),
    Render(render::Render),
    Diff(diff::Diff),
}

impl OperatorNoun {
    pub(crate) async fn run(self) -> anyhow::Result<Exit> {
        match self.verb {
            None => self.run.run().await,
            Some(OperatorVerb::Crds(crds)) => crds.run(),
            Some(OperatorVerb::Rights(rights)) => rights.run(),
            Some(OperatorVerb::Orphans(orphans)) => orphans.run().await,
            Some(OperatorVerb::Manifests(manifests)) => manifests.run(),
            Some(OperatorVerb::Render(render)) => render.run(),
            Some(OperatorVerb::Diff(diff)) => diff.run().await,
        }
    }
}
