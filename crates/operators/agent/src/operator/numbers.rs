//! What the operator counts, beside what every controller counts.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_kubeset::Converged;
use evenkeel_reconcile::Word;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// What the operator counts. Clones count together.
#[derive(Debug, Clone)]
pub struct Numbers(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    drift: Counter,
    pruned: Counter,
    restarts: Counter,
    failures: Family<Why, Counter>,
    to_ready: Histogram,
}

/// One word of a closed list: see `TranslateError::reason`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    reason: &'static str,
}

impl Default for Numbers {
    fn default() -> Self {
        Self(Arc::new(Counted {
            drift: Counter::default(),
            pruned: Counter::default(),
            restarts: Counter::default(),
            failures: Family::default(),
            to_ready: Histogram::new(exponential_buckets(1.0, 2.0, 12)),
        }))
    }
}

impl Numbers {
    /// Shows the numbers in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let of = |what: &str| format!("evenkeel_agents_{what}");
        let counted = &self.0;
        let drift = "Objects that others changed or removed and that were put right";
        registry.register(of("drift_repairs"), drift, counted.drift.clone());
        let pruned = "Objects that were removed because nobody needs them any more";
        registry.register(of("pruned"), pruned, counted.pruned.clone());
        let restarts = "Agents whose pods were restarted because an input changed";
        registry.register(of("restarts"), restarts, counted.restarts.clone());
        let failures = "Passes that could not bring an agent about, by reason";
        registry.register(of("failures"), failures, counted.failures.clone());
        let ready = "How long agents were not ready, in seconds";
        registry.register(of("seconds_to_ready"), ready, counted.to_ready.clone());
    }

    /// What became of the objects of an agent.
    pub(super) fn converged(&self, converged: &Converged) {
        let changes = converged.changes();
        let repaired = converged.drift.iter().filter(|drift| {
            let mut changes = changes.iter();
            changes.any(|change| change.key == drift.key && change.word.is_write())
        });
        self.0.drift.inc_by(repaired.count() as u64);
        let gone = |word| matches!(word, Word::Deleted | Word::Deleting);
        let pruned = changes.iter().filter(|change| gone(change.word));
        self.0.pruned.inc_by(pruned.count() as u64);
    }

    /// The pods of an agent are restarted.
    pub(super) fn restarted(&self) {
        self.0.restarts.inc();
    }

    /// An agent could not be brought about.
    pub(super) fn failed(&self, reason: &'static str) {
        self.0.failures.get_or_create(&Why { reason }).inc();
    }

    /// An agent is ready again, or for the first time.
    pub(super) fn became_ready(&self, after: Duration) {
        self.0.to_ready.observe(after.as_secs_f64());
    }
}
