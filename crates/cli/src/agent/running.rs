//! `agent run`.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use evenkeel_agent::Parts;
use evenkeel_ambient::{SystemClock, SystemRandom};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connect::{Way, connect};
use super::settings::{self, Config};
use crate::exit::Exit;
use crate::remote::{Remote, client};
use crate::signals;

/// Run the agent of one cluster.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  evenkeel agent run --broker https://broker.example.com --key @agent.key     in the cluster itself
  evenkeel agent run --kubeconfig eu-1.yaml --kube-context eu-1 --key @eu-1.key
  evenkeel agent run --set agent.polling_interval=60 --set agent.drift=warn
  evenkeel agent run --print-config                                           what can be set, and what is

Settings are taken from --config, then from variables such as EVENKEEL__AGENT__POLLING_INTERVAL, then
from --set, then from the other flags; the last one counts. The agent waits for its broker and its
cluster, goes on without the broker with what it was last told, and ends in good order on SIGTERM.")]
pub(super) struct Run {
    /// A file with settings, YAML or TOML.
    #[arg(long, value_name = "FILE", env = "EVENKEEL_CONFIG")]
    pub(super) config: Option<PathBuf>,

    /// The cluster's kubeconfig [default: the cluster that this runs in].
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,

    /// The context in the kubeconfig [default: its current one].
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    pub(super) kube_context: Option<String>,

    /// Where to show /healthz, /readyz and /metrics; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) vitals: Option<SocketAddr>,

    /// Set one thing, such as agent.drift=warn; can be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,

    /// Print the settings that would count, without the key, and end.
    #[arg(long)]
    pub(super) print_config: bool,
}

impl Run {
    /// Runs until it is told to stop.
    pub(super) async fn run(self, remote: &Remote) -> anyhow::Result<Exit> {
        let config = settings::of(&self, remote)?;
        if self.print_config {
            write!(io::stdout(), "{}", config.shown())?;
            return Ok(Exit::Done);
        }
        let stop = CancellationToken::new();
        let parts = assemble(config).await?;
        let running = tokio::spawn(evenkeel_agent::run(parts, stop.clone()));
        let stopping = stop.clone();
        tokio::spawn(async move {
            let _ = signals::told_to_stop().await;
            stopping.cancel();
        });
        running.await.context("the agent panicked")??;
        Ok(Exit::Done)
    }
}

async fn assemble(config: Config) -> anyhow::Result<Parts> {
    let (url, key) = config.broker()?;
    let broker = client(url, &key, config.broker.ca_file.as_deref())?;
    let Way { client, name } = connect(&config.kubernetes).await?;
    let vitals = match config.vitals.listen {
        Some(address) => Some(
            TcpListener::bind(address)
                .await
                .with_context(|| format!("cannot listen on {address}; choose another --vitals"))?,
        ),
        None => None,
    };
    announce(url, &name, vitals.as_ref())?;
    Ok(Parts {
        settings: config.agent,
        broker,
        cluster: client,
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        vitals,
    })
}

fn announce(broker: &str, cluster: &str, vitals: Option<&TcpListener>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "The agent asks {broker} and works in {cluster}")?;
    if let Some(address) = vitals.map(TcpListener::local_addr) {
        writeln!(out, "Health and metrics: http://{}/readyz", address?)?;
    }
    out.flush()
}
