//! What the agent counts. Labels come from closed lists.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_reconcile::Word;
use evenkeel_reconcile::report::Counts;
use evenkeel_reconcile::runner::{self, Ended, Load, Reason};
use evenkeel_vitals::Requests;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::pull::Heard;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Result {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Became {
    word: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Lane {
    lane: &'static str,
}

/// What the agent counts.
#[derive(Debug)]
pub(crate) struct Metrics {
    polls: Family<Result, Counter>,
    poll_seconds: Histogram,
    objects: Family<Became, Counter>,
    drift: Counter,
    pub(crate) refused: Counter,
    runs: Family<Result, Counter>,
    run_seconds: Histogram,
    queue: Family<Lane, Gauge>,
    pub(crate) stacks: Gauge,
    pub(crate) active: Gauge,
    pub(crate) leading: Gauge,
    pub(crate) outbox: Gauge,
    pub(crate) requests: Requests,
}

impl Metrics {
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.001, 4.0, 10));
        let metrics = Self {
            polls: Family::default(),
            poll_seconds: seconds(),
            objects: Family::default(),
            drift: Counter::default(),
            refused: Counter::default(),
            runs: Family::default(),
            run_seconds: seconds(),
            queue: Family::default(),
            stacks: Gauge::default(),
            active: Gauge::default(),
            leading: Gauge::default(),
            outbox: Gauge::default(),
            requests: Requests::default(),
        };
        metrics.register(registry);
        metrics
    }

    fn register(&self, to: &mut Registry) {
        let s = Unit::Seconds;
        to.register(
            "polls",
            "Questions to the broker by result",
            self.polls.clone(),
        );
        to.register_with_unit(
            "poll",
            "How long they took, waiting included",
            s.clone(),
            self.poll_seconds.clone(),
        );
        to.register(
            "objects",
            "What became of objects, by word",
            self.objects.clone(),
        );
        to.register(
            "drift_findings",
            "Objects that somebody else changed",
            self.drift.clone(),
        );
        to.register(
            "refused_revisions",
            "Revisions older than what is held",
            self.refused.clone(),
        );
        to.register(
            "runs",
            "Attempts at stacks by how they ended",
            self.runs.clone(),
        );
        to.register_with_unit("run", "How long attempts took", s, self.run_seconds.clone());
        to.register("queue", "Stacks by where they wait", self.queue.clone());
        to.register("stacks", "Stacks that the agent holds", self.stacks.clone());
        to.register("active", "1 if the agent is to work", self.active.clone());
        to.register(
            "leading",
            "1 if the agent holds its lease",
            self.leading.clone(),
        );
        to.register(
            "outbox",
            "What the broker has not heard yet",
            self.outbox.clone(),
        );
        self.requests.register(to);
    }

    pub(crate) fn polled(&self, heard: Option<Heard>, took: Duration) {
        let result = match heard {
            Some(Heard::News) => "news",
            Some(Heard::Nothing) => "nothing",
            None => "failed",
        };
        self.polls.get_or_create(&Result { result }).inc();
        self.poll_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn attempted(&self, counts: &Counts, drift: usize) {
        for word in Word::ALL {
            let count = counts.get(word) as u64;
            let word = word.as_str();
            self.objects.get_or_create(&Became { word }).inc_by(count);
        }
        self.drift.inc_by(drift as u64);
    }
}

/// The numbers of the queue of stacks.
pub(crate) struct OfRuns(pub(crate) Arc<Metrics>);

impl runner::Metrics for OfRuns {
    fn load(&self, load: &Load) {
        let lanes = [
            ("changes", load.changes),
            ("routine", load.routine),
            ("delayed", load.delayed),
            ("running", load.running),
        ];
        for (lane, count) in lanes {
            let gauge = self.0.queue.get_or_create(&Lane { lane });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    fn started(&self, _: Reason, _: Duration) {}

    fn ended(&self, ended: &Ended, took: Duration) {
        let result = ended.as_str();
        self.0.runs.get_or_create(&Result { result }).inc();
        self.0.run_seconds.observe(took.as_secs_f64());
    }
}
