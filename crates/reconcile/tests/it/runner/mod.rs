//! The runner keeps its promises. Time is virtual: hours pass in milliseconds.

mod agreement;
mod drain;
mod fairness;
mod isolation;
mod memory;
mod model;
mod pace;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evenkeel_ambient::SeededRandom;
use evenkeel_reconcile::runner::{Drained, Ended, Handle, Load, Metrics, Reason, Runner, Settings};
use evenkeel_reconcile::{Classify, ErrorClass, Outcome};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

#[derive(Debug, thiserror::Error)]
#[error("the other side is {0:?}")]
struct Trouble(ErrorClass);

impl Classify for Trouble {
    fn class(&self) -> ErrorClass {
        self.0
    }
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn one_worker() -> Settings {
    Settings {
        workers: 1,
        ..Settings::default()
    }
}

/// When which key ran, and how.
#[derive(Default)]
struct Journal {
    begun: Mutex<Vec<(Duration, u32)>>,
    waited: Mutex<Vec<(Reason, Duration)>>,
    ended: Mutex<BTreeMap<&'static str, usize>>,
    deepest: Mutex<Load>,
}

impl Metrics for Journal {
    fn load(&self, load: &Load) {
        let mut deepest = self.deepest.lock().unwrap();
        deepest.changes = deepest.changes.max(load.changes);
        deepest.oldest_change = deepest.oldest_change.max(load.oldest_change);
    }

    fn started(&self, reason: Reason, waited: Duration) {
        self.waited.lock().unwrap().push((reason, waited));
    }

    fn ended(&self, ended: &Ended, _took: Duration) {
        *self
            .ended
            .lock()
            .unwrap()
            .entry(ended.as_str())
            .or_default() += 1;
    }
}

impl Journal {
    /// How often each key ran; keys that never ran are absent.
    fn counts(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for (_, key) in self.begun.lock().unwrap().iter() {
            *counts.entry(*key).or_default() += 1;
        }
        counts
    }

    /// When a key ran.
    fn times(&self, key: u32) -> Vec<Duration> {
        let begun = self.begun.lock().unwrap();
        begun
            .iter()
            .filter(|(_, ran)| *ran == key)
            .map(|(at, _)| *at)
            .collect()
    }

    fn ended(&self, how: &str) -> usize {
        self.ended
            .lock()
            .unwrap()
            .get(how)
            .copied()
            .unwrap_or_default()
    }
}

/// A runner at work whose every run is written down.
struct Bench {
    handle: Handle<u32>,
    journal: Arc<Journal>,
    shutdown: CancellationToken,
    task: JoinHandle<Drained<u32>>,
}

impl Bench {
    fn start<F>(
        settings: Settings,
        work: impl Fn(Handle<u32>, u32) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Outcome<Trouble>> + Send + 'static,
    {
        let runner = Runner::new(settings, Arc::new(SeededRandom::new(7)));
        Self::start_with(runner, work)
    }

    fn start_with<F>(
        runner: Runner<u32>,
        work: impl Fn(Handle<u32>, u32) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Outcome<Trouble>> + Send + 'static,
    {
        let journal = Arc::new(Journal::default());
        let (handle, shutdown) = (runner.handle(), CancellationToken::new());
        let started = Instant::now();
        let (notes, inner) = (Arc::clone(&journal), handle.clone());
        let work = move |key| {
            notes.begun.lock().unwrap().push((started.elapsed(), key));
            work(inner.clone(), key)
        };
        let runner = runner.metrics(Arc::<Journal>::clone(&journal));
        let task = tokio::spawn(runner.run(work, shutdown.clone()));
        Self {
            handle,
            journal,
            shutdown,
            task,
        }
    }

    /// Lets time pass.
    async fn for_(&self, time: Duration) -> &Self {
        sleep(time).await;
        self
    }

    fn why(&self, key: u32) -> String {
        self.handle
            .find(&key)
            .map_or_else(|| "not known".to_owned(), |item| item.to_string())
    }

    async fn stop(self) -> Drained<u32> {
        self.shutdown.cancel();
        self.task.await.expect("the runner itself never panics")
    }
}
