//! How an agent starts, stands for its lease, and stops.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_client::{Client as Broker, ClientError};
use evenkeel_lease::{Elector, LeaseName, Led, Standing};
use evenkeel_vitals::{Check, Checks, Vitals};
use kube::Client;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::metrics::Metrics;
use crate::pull::Heard;
use crate::settings::Settings;
use crate::{cluster, identity, shift};

/// Why an agent cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The key opens the broker, but not for an agent.
    #[error(
        "the broker knows the key, but it is not an agent's; make one with `evenkeel agent create`"
    )]
    NotAnAgent,
}

/// What an agent is made of.
pub struct Parts {
    /// Its settings.
    pub settings: Settings,
    /// Its broker, with its key.
    pub broker: Broker,
    /// Its cluster, by a client that repeats nothing of its own accord.
    pub cluster: Client,
    /// What time it is.
    pub clock: SharedClock,
    /// Its dice.
    pub random: SharedRandom,
    /// Where it shows how it is doing, if anywhere.
    pub vitals: Option<TcpListener>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What outlasts a lease.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) settings: Settings,
    pub(crate) broker: Broker,
    pub(crate) clock: SharedClock,
    pub(crate) dice: SharedRandom,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) checks: Needs,
}

/// What an agent needs in order to work.
#[derive(Debug)]
pub(crate) struct Needs {
    pub(crate) broker: Check,
    pub(crate) cluster: Check,
}

/// Runs an agent until `shutdown`, then ends what is under way, says its last words and gives its
/// lease back.
///
/// # Errors
/// When it can never work with what it was given.
pub async fn run(parts: Parts, shutdown: CancellationToken) -> Result<(), Error> {
    let (checks, mut registry) = (Checks::default(), Registry::with_prefix("evenkeel_agent"));
    let agent = Arc::new(Agent {
        metrics: Arc::new(Metrics::new(&mut registry)),
        checks: Needs {
            broker: checks.named("broker"),
            cluster: checks.named("cluster"),
        },
        settings: parts.settings,
        broker: parts.broker,
        clock: parts.clock,
        dice: parts.random,
    });
    let vitals = Vitals { checks, registry };
    let ended = CancellationToken::new();
    let _shown = parts
        .vitals
        .map(|listener| AbortOnDropHandle::new(tokio::spawn(vitals.serve(listener, ended))));
    stand(&agent, &parts.cluster, &shutdown).await
}

/// Works while it holds the lease, and stands for it again when it was lost.
async fn stand(
    agent: &Arc<Agent>,
    client: &Client,
    shutdown: &CancellationToken,
) -> Result<(), Error> {
    tokio::select! {
        () = shutdown.cancelled() => return Ok(()),
        () = settle(agent, client) => {}
    }
    let elector = elector(agent, client);
    let _followed = AbortOnDropHandle::new(tokio::spawn(follow(agent.clone(), elector.standing())));
    loop {
        let work = |term| shift::work(agent.clone(), client.clone(), term, shutdown.clone());
        match elector.lead(shutdown, work).await {
            Led::NeverLed => return Ok(()),
            Led::Finished(ended) => return ended,
            Led::Lost => {
                tracing::warn!("another replica may work now; standing for the lease again");
            }
        }
    }
}

fn elector(agent: &Agent, client: &Client) -> Elector {
    let lease = LeaseName {
        namespace: agent.settings.namespace.clone(),
        name: agent.settings.name.clone(),
    };
    let client = agent.metrics.requests.counted(client);
    let (clock, dice) = (agent.clock.clone(), agent.dice.clone());
    Elector::new(client, &lease, "agent", clock, dice).timing(agent.settings.timing())
}

/// Waits for the cluster, and for a namespace of the agent's own in it.
async fn settle(agent: &Agent, client: &Client) {
    let (namespace, mut failures) = (&agent.settings.namespace, 0);
    while let Err(error) = cluster::settle(client, namespace).await {
        failures += 1;
        let why = format!("cannot find or make namespace {namespace} in the cluster: {error}");
        tracing::warn!("{why}");
        agent.checks.cluster.fail(why);
        let policy = agent.settings.retry_of_broker();
        sleep(policy.delay(failures, &*agent.dice)).await;
    }
    agent.checks.cluster.pass();
}

/// Shows whether this replica is the one that works.
async fn follow(agent: Arc<Agent>, mut standing: watch::Receiver<Standing>) {
    loop {
        let now = standing.borrow_and_update().clone();
        agent.metrics.leading.set((now == Standing::Leading).into());
        match now {
            Standing::Leading => tracing::info!("this replica holds the lease"),
            Standing::Waiting { holder } => {
                // A replica that waits needs no broker.
                agent.checks.broker.pass();
                tracing::info!(holder, "another replica holds the lease; waiting");
            }
            Standing::Failing { why } => tracing::warn!(why, "cannot stand for the lease"),
        }
        if standing.changed().await.is_err() {
            return;
        }
    }
}

impl Agent {
    pub(crate) fn broker_answered(&self, heard: Heard, took: Duration) {
        self.metrics.polled(Some(heard), took);
        self.checks.broker.pass();
    }

    pub(crate) fn broker_failed(&self, error: &ClientError) {
        self.metrics.polled(None, Duration::ZERO);
        let why = identity::advice(error);
        tracing::warn!("no target state from the broker: {why}; going on with what is known");
        self.checks.broker.fail(why);
    }
}
