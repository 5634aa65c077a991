//! All that goes on while the lease is held.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evenkeel_kubeset::{Cluster, Settings as SetSettings};
use evenkeel_lease::Term;
use evenkeel_model::{AgentId, StackId};
use evenkeel_reconcile::runner::{Debounce, Handle, Runner, Settings as Running};
use evenkeel_reconcile::{Delays, RetryPolicy};
use kube::Client;
use tokio::sync::{Mutex as Writing, Notify, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::converge::{converge, cut_short};
use crate::health::look;
use crate::heartbeat::beat;
use crate::identity::identify;
use crate::memory::{Memory, Remembered, Texts};
use crate::metrics::OfRuns;
use crate::outbox::Outbox;
use crate::pull::pull;
use crate::run::{Agent, Error};
use crate::settings::Settings;
use crate::stacks::{Call, Stacks};
use crate::target::Target;
use crate::{cluster, diffs};

/// The key of the label and annotation that name the stack of an object.
const STACK: &str = "brokkr.io/stack-id";
/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What exists while the lease is held.
pub(crate) struct Shift {
    pub(crate) agent: Arc<Agent>,
    /// The cluster, for as long as the lease is held.
    pub(crate) client: Client,
    pub(crate) stacks: Stacks,
    pub(crate) outbox: Outbox,
    /// Asks for attempts.
    pub(crate) runs: Handle<StackId>,
    /// Asks for looks at health.
    pub(crate) looks: Handle<StackId>,
    /// Grows when the broker has a question.
    pub(crate) questions: watch::Sender<u64>,
    /// One writes at a time, so that what is older never comes last.
    memory: Writing<Memory>,
    /// Rings when a restart would not know everything.
    forgotten: Notify,
    known: Mutex<Known>,
}

/// What was last told.
#[derive(Debug, Default)]
struct Known {
    told: Remembered,
    texts: Arc<Texts>,
    /// Whether a restart would know it too.
    remembered: bool,
    /// Who the agent is, once the broker said so.
    agent: Option<AgentId>,
}

impl Debug for Shift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shift").finish_non_exhaustive()
    }
}

/// Works until `stop`, then drains. Dropped when the lease is lost, which ends all of it at once.
pub(crate) async fn work(
    agent: Arc<Agent>,
    client: Client,
    term: Term,
    stop: CancellationToken,
) -> Result<(), Error> {
    let settings = &agent.settings;
    let (requests, at_once) = (&agent.metrics.requests, settings.requests_at_once);
    let client = cluster::of_term(&client, at_once, requests, &term);
    let runs = Runner::new(running(settings), agent.dice.clone())
        .metrics(Arc::new(OfRuns(agent.metrics.clone())));
    let looks = Runner::new(looking(settings), agent.dice.clone());
    let shift = Arc::new(Shift::new(&agent, client, runs.handle(), looks.handle()));
    tokio::select! {
        () = stop.cancelled() => return Ok(()),
        () = shift.recall() => {}
    }
    let (converging, looking, cut_off) = (shift.clone(), shift.clone(), shift.clone());
    let runs = runs.report(move |id, failure| cut_short(&cut_off, *id, failure));
    let working = async {
        let runs = runs.run(move |id| converge(converging.clone(), id), stop.clone());
        let looks = looks.run(move |id| look(looking.clone(), id), stop.clone());
        tokio::join!(runs, looks)
    };
    let ended = tokio::select! {
        _ = working => Ok(()),
        failed = shift.talk(&stop) => failed,
        never = shift.remember() => match never {},
    };
    let last = async { tokio::join!(shift.say_all(), shift.remember_if_forgotten()) };
    let _ = timeout(LAST_WORDS, last).await;
    ended
}

fn running(settings: &Settings) -> Running {
    let retry = Some(settings.retry_of_stacks());
    Running {
        workers: settings.stacks_at_once,
        timeout: settings.attempt_timeout,
        grace: settings.grace,
        delays: Delays {
            done: Some(RetryPolicy::every(settings.resync_interval)),
            wait: Some(RetryPolicy::every(settings.polling_interval)),
            transient: retry,
            permanent: retry,
            unknown: retry,
        },
        debounce: None,
    }
}

fn looking(settings: &Settings) -> Running {
    let again = Some(RetryPolicy::every(settings.health_interval));
    Running {
        grace: Duration::from_secs(1),
        delays: Delays {
            done: None,
            wait: again,
            transient: again,
            permanent: again,
            unknown: again,
        },
        debounce: Some(Debounce {
            quiet: Duration::from_millis(200),
            max_wait: Duration::from_secs(2),
        }),
        ..Running::default()
    }
}

impl Shift {
    fn new(
        agent: &Arc<Agent>,
        client: Client,
        runs: Handle<StackId>,
        looks: Handle<StackId>,
    ) -> Self {
        let (settings, namespace) = (&agent.settings, &agent.settings.namespace);
        let how = SetSettings {
            owner_key: STACK.to_owned(),
            inventory_namespace: namespace.clone(),
            namespaces: settings.namespaces.clone(),
            retry: settings.retry.into(),
            ..SetSettings::default()
        };
        let cluster = Cluster::new(client.clone(), how, agent.clock.clone(), agent.dice.clone());
        Self {
            agent: agent.clone(),
            stacks: Stacks::new(cluster, runs.clone(), looks.clone()),
            outbox: Outbox::default(),
            runs,
            looks,
            questions: watch::Sender::new(0),
            memory: Writing::new(Memory::new(client.clone(), namespace, &settings.name)),
            forgotten: Notify::new(),
            client,
            known: Mutex::default(),
        }
    }

    /// Takes up what was known before a restart.
    async fn recall(&self) {
        let policy = self.agent.settings.retry_of_broker();
        for failures in 1.. {
            match self.memory.lock().await.read().await {
                Ok((told, texts)) => return self.recalled(told, texts),
                Err(error) if failures > 3 => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        error,
                        "what was known before is lost; waiting for the broker"
                    );
                    return;
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "cannot read what was known before; trying again");
                }
            }
            sleep(policy.delay(failures, &*self.agent.dice)).await;
        }
    }

    fn recalled(&self, told: Remembered, texts: Texts) {
        self.stacks.hold(&told.target, &texts, &told.answered);
        self.measure();
        let mut known = self.known();
        (known.told, known.texts) = (told, Arc::new(texts));
        known.remembered = true;
    }

    /// Finds out who the agent is, and then speaks and listens until it is dropped.
    async fn talk(&self, stop: &CancellationToken) -> Result<(), Error> {
        let agent = identify(self).await?;
        tracing::info!(%agent, "the broker knows this agent");
        self.known().agent = Some(agent);
        let listening = async {
            tokio::select! {
                () = stop.cancelled() => {}
                () = pull(self, agent) => {}
            }
        };
        tokio::join!(
            listening,
            beat(self, agent),
            self.say(),
            diffs::answer(self, agent)
        );
        Ok(())
    }

    /// Says what there is to say, again and again until it is heard.
    async fn say(&self) {
        let policy = self.agent.settings.retry_of_broker();
        let mut failures = 0;
        loop {
            self.outbox.filled().await;
            failures = if self.say_all().await {
                0
            } else {
                failures + 1
            };
            if failures > 0 {
                sleep(policy.delay(failures, &*self.agent.dice)).await;
            }
        }
    }

    /// Whether the broker heard all that there is to say.
    async fn say_all(&self) -> bool {
        let Some(agent) = self.known().agent else {
            return false;
        };
        let sent = self.outbox.send(&self.agent.broker, agent).await;
        self.measure();
        if let Err(error) = &sent {
            tracing::debug!(%error, "the broker has not heard everything yet");
        }
        sent.is_ok()
    }

    pub(crate) fn target(&self) -> Arc<Target> {
        self.known().told.target.clone()
    }

    pub(crate) fn texts(&self) -> Arc<Texts> {
        self.known().texts.clone()
    }

    /// Takes up what the broker says: first what a restart must know, then the work.
    pub(crate) async fn hold(&self, target: Target, texts: Texts) {
        let (target, texts) = (Arc::new(target), Arc::new(texts));
        {
            let mut known = self.known();
            known.remembered &= known.told.target == target;
            known
                .told
                .answered
                .retain(|stack, _| target.orders.contains_key(stack));
            (known.told.target, known.texts) = (target.clone(), texts.clone());
        }
        self.remember_if_forgotten().await;
        self.stacks.hold(&target, &texts, &BTreeMap::new());
        self.measure();
    }

    /// Notes that a complete pass answered a call. It is written down soon: whoever dies before
    /// that answers once more, whatever the drift mode.
    pub(crate) fn answered(&self, stack: StackId, call: Call) {
        let mut known = self.known();
        if known.told.answered.insert(stack, call) != Some(call) {
            known.remembered = false;
            self.forgotten.notify_one();
        }
    }

    /// Writes down whatever a restart would not know, for ever.
    async fn remember(&self) -> Infallible {
        loop {
            self.forgotten.notified().await;
            self.remember_if_forgotten().await;
        }
    }

    /// Writes down what a restart has to know, if it does not know it.
    pub(crate) async fn remember_if_forgotten(&self) {
        let memory = self.memory.lock().await;
        let (told, texts) = {
            let known = self.known();
            if known.remembered {
                return;
            }
            (known.told.clone(), known.texts.clone())
        };
        match memory.write(&told, &texts).await {
            // More may have come meanwhile.
            Ok(()) => {
                let mut known = self.known();
                known.remembered = known.told == told;
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "a restart without the broker would not know what to hold"
                );
            }
        }
    }

    fn measure(&self) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let metrics = &self.agent.metrics;
        metrics.stacks.set(count(self.stacks.len()));
        metrics.outbox.set(count(self.outbox.len()));
        metrics.active.set(self.stacks.is_active().into());
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
