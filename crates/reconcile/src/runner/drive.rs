//! The thin shell around the queue: hands keys to tasks, takes their outcomes back, drains.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_ambient::SharedRandom;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span, info_span, warn};

use super::ended::{Ended, Failure};
use super::guard::guarded;
use super::handle::Handle;
use super::item::State;
use super::metrics::Metrics;
use super::queue::{Key, Queue, Started};
use super::request::Debounce;
use crate::outcome::{Delays, Outcome};
use crate::retry::Classify;

/// How a runner behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How many keys may run side by side; 0 means 1.
    pub workers: usize,
    /// How long one run may take.
    pub timeout: Duration,
    /// How long runs may still take after a shutdown is asked for.
    pub grace: Duration,
    /// When to run again, for each class of outcome.
    pub delays: Delays,
    /// Whether to gather bursts of changes.
    pub debounce: Option<Debounce>,
}

impl Default for Settings {
    /// Four workers, five minutes for a run, twenty seconds to drain, no debounce.
    fn default() -> Self {
        Self {
            workers: 4,
            timeout: Duration::from_secs(300),
            grace: Duration::from_secs(20),
            delays: Delays::default(),
            debounce: None,
        }
    }
}

/// What was left when the runner stopped.
#[derive(Debug, PartialEq, Eq)]
pub struct Drained<K> {
    /// Keys whose runs did not end within the grace and were cut off.
    pub abandoned: Vec<K>,
    /// How many keys were ready to run and had not begun.
    pub unstarted: usize,
}

type Report<K> = Arc<dyn Fn(&K, &Failure) + Send + Sync>;

/// Runs keys. Made once, run once; ask for runs through its [`Handle`].
pub struct Runner<K> {
    handle: Handle<K>,
    settings: Settings,
    metrics: Arc<dyn Metrics>,
    report: Report<K>,
}

impl<K: Key> Runner<K> {
    /// A runner with an empty queue that counts and reports nothing.
    pub fn new(settings: Settings, dice: SharedRandom) -> Self {
        let queue = Queue::new(settings.delays, settings.debounce, dice);
        Self {
            handle: Handle::new(queue),
            settings,
            metrics: Arc::new(()),
            report: Arc::new(|_, _| {}),
        }
    }

    /// Sends the numbers to `metrics`.
    #[must_use]
    pub fn metrics(self, metrics: Arc<dyn Metrics>) -> Self {
        Self { metrics, ..self }
    }

    /// Tells `report` of every failure, panics and timeouts included, so that it can be shown on
    /// the subject of the key. Called on the run's own task, before the key can run again.
    #[must_use]
    pub fn report(self, report: impl Fn(&K, &Failure) + Send + Sync + 'static) -> Self {
        Self {
            report: Arc::new(report),
            ..self
        }
    }

    /// Asks for runs; can be cloned and outlives the runner.
    pub fn handle(&self) -> Handle<K> {
        self.handle.clone()
    }

    /// Runs keys through `work` until `shutdown`, then drains. Dropping the future cuts off
    /// every run.
    pub async fn run<E, F>(
        self,
        work: impl Fn(K) -> F + Send + Sync + 'static,
        shutdown: CancellationToken,
    ) -> Drained<K>
    where
        E: Classify + Error + 'static,
        F: Future<Output = Outcome<E>> + Send + 'static,
    {
        let mut drive = Drive {
            runner: self,
            work: Arc::new(work),
            runs: JoinSet::new(),
        };
        drive.until(shutdown).await;
        drive.drain().await
    }
}

impl<K> fmt::Debug for Runner<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A runner at work.
struct Drive<K, W> {
    runner: Runner<K>,
    work: Arc<W>,
    runs: JoinSet<Finished<K>>,
}

struct Finished<K> {
    run: Started<K>,
    ended: Ended,
    took: Duration,
}

/// How long a run that was cut off has to notice it: until its next await. One that blocks its
/// thread never does, and must not block the shutdown.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl<K, W, E, F> Drive<K, W>
where
    K: Key,
    W: Fn(K) -> F + Send + Sync + 'static,
    E: Classify + Error + 'static,
    F: Future<Output = Outcome<E>> + Send + 'static,
{
    async fn until(&mut self, shutdown: CancellationToken) {
        let handle = self.runner.handle();
        while !shutdown.is_cancelled() {
            self.start_ready();
            self.runner.metrics.load(&handle.load());
            let due = handle.queue().next_due().map(|due| handle.instant(due));
            tokio::select! {
                () = shutdown.cancelled() => {}
                Some(finished) = self.runs.join_next() => self.finish(finished),
                () = handle.changed() => {}
                // With no worker free there is nothing that a timer could start.
                () = at(due), if self.has_room() => {}
            }
        }
    }

    fn has_room(&self) -> bool {
        self.runs.len() < self.runner.settings.workers.max(1)
    }

    fn start_ready(&mut self) {
        while self.has_room() {
            let handle = &self.runner.handle;
            let Some(run) = handle.queue().next(handle.now()) else {
                return;
            };
            self.runner.metrics.started(run.reason, run.waited);
            let span = span_of(&run);
            self.runs.spawn(self.perform(run).instrument(span));
        }
    }

    fn perform(&self, run: Started<K>) -> impl Future<Output = Finished<K>> + use<K, W, E, F> {
        let (work, report) = (Arc::clone(&self.work), Arc::clone(&self.runner.report));
        let limit = self.runner.settings.timeout;
        async move {
            let began = Instant::now();
            let key = run.key.clone();
            let ended = guarded(limit, || work(key)).await;
            if let Ended::Failed(failure) = &ended {
                tell(&report, &run.key, failure);
            }
            Finished {
                run,
                ended,
                took: began.elapsed(),
            }
        }
    }

    /// Gives a run back to the queue. One that was cut off stays listed as running.
    fn finish(&self, finished: Result<Finished<K>, JoinError>) {
        let Ok(Finished { run, ended, took }) = finished else {
            return;
        };
        self.runner.metrics.ended(&ended, took);
        let failure = match &ended {
            Ended::Failed(failure) => Some(failure.clone()),
            Ended::Done | Ended::Wait(_) => None,
        };
        let handle = &self.runner.handle;
        let next = handle.queue().finish(run.slot, ended, handle.now());
        if let Some(Failure { kind, text }) = failure {
            let (kind, attempt) = (kind.as_str(), run.attempt);
            warn!(key = %run.key, kind, attempt, ?next, error = %text, "run failed");
        }
    }

    async fn drain(mut self) -> Drained<K> {
        let grace_ends = Instant::now() + self.runner.settings.grace;
        self.finish_until(grace_ends).await;
        self.runs.abort_all();
        self.finish_until(Instant::now() + LAST_WORDS).await;
        let drained = what_is_left(&self.runner.handle);
        for key in &drained.abandoned {
            warn!(key = %key, "run abandoned at shutdown");
        }
        drained
    }

    async fn finish_until(&mut self, deadline: Instant) {
        while let Ok(Some(finished)) = timeout_at(deadline, self.runs.join_next()).await {
            self.finish(finished);
        }
    }
}

/// The reason is for the span alone: the run gets the key and looks at the world.
fn span_of<K: Key>(run: &Started<K>) -> Span {
    info_span!("run", key = %run.key, reason = run.reason.as_str(), attempt = run.attempt)
}

/// A report that panics must not take the outcome of the run with it.
fn tell<K>(report: &Report<K>, key: &K, failure: &Failure) {
    let told = std::panic::AssertUnwindSafe(|| report(key, failure));
    if std::panic::catch_unwind(told).is_err() {
        warn!(
            kind = failure.kind.as_str(),
            "reporting a failed run panicked"
        );
    }
}

fn what_is_left<K: Key>(handle: &Handle<K>) -> Drained<K> {
    let load = handle.load();
    let running = |state| matches!(state, State::Running { .. });
    let left = handle.list().into_iter().filter(|item| running(item.state));
    Drained {
        abandoned: left.map(|item| item.key).collect(),
        unstarted: load.changes + load.routine,
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
