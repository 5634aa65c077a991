//! `operator`: all operators in one process, one process at a time.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_controller::{Ended, Manager};
use evenkeel_lease::LeaseName;
use evenkeel_vitals::{Checks, Requests, Vitals};
use kube::Client;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::agents::AgentOptions;
use super::list::named;
use super::shape::ShapeOptions;
use crate::agent::connect::{Way, connect};
use crate::agent::settings::KubernetesSection;
use crate::exit::Exit;
use crate::signals;

/// How to run the operators.
#[derive(Debug, Clone, Args)]
pub(crate) struct Run {
    /// The cluster's kubeconfig [default: the cluster that this runs in].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The context in the kubeconfig [default: its current one].
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    kube_context: Option<String>,

    /// Only these operators: shape, database, agent [default: all of them].
    #[arg(long, value_name = "OPERATOR", value_delimiter = ',')]
    only: Vec<String>,

    /// The lease that decides which of several processes works.
    #[arg(long, value_name = "NAMESPACE/NAME", default_value = "default/evenkeel-operator", value_parser = lease_name)]
    lease: LeaseName,

    /// Work without a lease: there is no second process.
    #[arg(long, conflicts_with = "lease")]
    no_lease: bool,

    /// Where to show /healthz, /readyz and /metrics; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    vitals: Option<SocketAddr>,

    #[command(flatten)]
    pub(crate) shape: ShapeOptions,

    #[command(flatten)]
    pub(crate) agents: AgentOptions,
}

fn lease_name(text: &str) -> Result<LeaseName, String> {
    match text.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => Ok(LeaseName {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }),
        _ => Err("a lease is NAMESPACE/NAME".to_owned()),
    }
}

impl Run {
    /// All operators, alone in their cluster, with the shapes cloud at `url`.
    pub(crate) fn beside(url: &str) -> Self {
        Self {
            kubeconfig: None,
            kube_context: None,
            only: Vec::new(),
            lease: LeaseName {
                namespace: "default".to_owned(),
                name: "evenkeel-operator".to_owned(),
            },
            no_lease: true,
            vitals: None,
            shape: ShapeOptions::at(url),
            agents: AgentOptions::default(),
        }
    }

    /// Runs until it is told to stop, or until another process leads.
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let Way { client, name } = self.way().await?;
        let vitals = self.vitals_listener().await?;
        announce(&name, vitals.as_ref())?;
        let stop = CancellationToken::new();
        let stopping = stop.clone();
        tokio::spawn(async move {
            let _ = signals::told_to_stop().await;
            stopping.cancel();
        });
        match operate(client, &self, vitals, stop).await? {
            Ended::Stopped => Ok(Exit::Done),
            Ended::LeaseLost => bail!("another process leads now; start this one again"),
        }
    }

    async fn vitals_listener(&self) -> anyhow::Result<Option<TcpListener>> {
        let Some(address) = self.vitals else {
            return Ok(None);
        };
        let listener = TcpListener::bind(address).await;
        let listener = listener
            .with_context(|| format!("cannot listen on {address}; choose another --vitals"))?;
        Ok(Some(listener))
    }

    /// The cluster that is meant.
    pub(super) async fn way(&self) -> anyhow::Result<Way> {
        let section = KubernetesSection {
            kubeconfig: self.kubeconfig.clone(),
            context: self.kube_context.clone(),
        };
        connect(&section).await
    }

    /// All operators that the options ask for.
    pub(super) fn manager(
        &self,
        client: Client,
        registry: &mut Registry,
    ) -> anyhow::Result<Manager> {
        let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        let mut manager = Manager::new(client, clock, dice, registry);
        for operator in named(&self.only)? {
            manager = (operator.add)(manager, self, registry)?;
        }
        Ok(match self.no_lease {
            true => manager,
            false => manager.under_lease(&self.lease, "evenkeel-operator"),
        })
    }
}

/// A client for a manager that is asked for its rights and never run.
pub(super) fn nobody() -> Client {
    let nowhere = tower::service_fn(async |_: http::Request<kube::client::Body>| {
        Err::<http::Response<kube::client::Body>, _>(io::Error::other("nobody is asked"))
    });
    Client::new(nowhere, "default")
}

/// Runs all operators in the cluster of `client` until `stop`.
pub(crate) async fn operate(
    client: Client,
    run: &Run,
    vitals: Option<TcpListener>,
    stop: CancellationToken,
) -> anyhow::Result<Ended> {
    let (mut registry, checks, requests) =
        (Registry::default(), Checks::default(), Requests::default());
    requests.register(&mut registry);
    let manager = run.manager(requests.counted(&client), &mut registry)?;
    let manager = manager.checked_in(&checks);
    if let Some(listener) = vitals {
        let shown = Vitals { checks, registry };
        tokio::spawn(shown.serve(listener, stop.clone()));
    }
    Ok(manager.run(stop).await)
}

fn announce(cluster: &str, vitals: Option<&TcpListener>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "The operators work in {cluster}")?;
    if let Some(address) = vitals.map(TcpListener::local_addr) {
        writeln!(out, "Health and metrics are at http://{}", address?)?;
    }
    out.flush()
}
