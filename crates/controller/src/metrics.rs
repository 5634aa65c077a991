//! The numbers of a controller, under the names that existing dashboards know.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use evenkeel_reconcile::runner::{Ended, FailureKind, Load, Metrics, Priority, Reason};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    controller: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfResult {
    controller: &'static str,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfQueue {
    name: &'static str,
    priority: &'static str,
}

type Seconds = Gauge<f64, AtomicU64>;

/// The numbers of all controllers of a process.
#[derive(Debug, Clone)]
pub(crate) struct Sheet(Arc<Families>);

#[derive(Debug)]
struct Families {
    total: Family<OfResult, Counter>,
    errors: Family<Of, Counter>,
    terminal: Family<Of, Counter>,
    panics: Family<Of, Counter>,
    timeouts: Family<Of, Counter>,
    took: Family<Of, Histogram>,
    active: Family<Of, Gauge>,
    depth: Family<OfQueue, Gauge>,
    oldest: Family<OfQueue, Seconds>,
    waited: Family<Of, Histogram>,
    retries: Family<Of, Counter>,
    stale: Family<Of, Counter>,
    orphans: Family<Of, Gauge>,
    leads: Gauge,
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 4.0, 9))
}

impl Sheet {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let families = Families {
            total: Family::default(),
            errors: Family::default(),
            terminal: Family::default(),
            panics: Family::default(),
            timeouts: Family::default(),
            took: Family::new_with_constructor(seconds),
            active: Family::default(),
            depth: Family::default(),
            oldest: Family::default(),
            waited: Family::new_with_constructor(seconds),
            retries: Family::default(),
            stale: Family::default(),
            orphans: Family::default(),
            leads: Gauge::default(),
        };
        families.register(registry);
        Self(Arc::new(families))
    }

    pub(crate) fn of(&self, controller: &'static str) -> Numbers {
        Numbers {
            sheet: self.clone(),
            controller,
        }
    }

    pub(crate) fn leads(&self, leads: bool) {
        self.0.leads.set(leads.into());
    }
}

impl Families {
    fn register(&self, registry: &mut Registry) {
        let of = "controller_runtime_reconcile";
        registry.register(of, "Runs by result", self.total.clone());
        registry.register(
            format!("{of}_errors"),
            "Runs that failed",
            self.errors.clone(),
        );
        let stay = "Runs that failed and stay failed";
        registry.register(
            "controller_runtime_terminal_reconcile_errors",
            stay,
            self.terminal.clone(),
        );
        registry.register(
            format!("{of}_panics"),
            "Runs that panicked",
            self.panics.clone(),
        );
        let long = "Runs that took too long";
        registry.register(format!("{of}_timeouts"), long, self.timeouts.clone());
        registry.register(
            format!("{of}_time_seconds"),
            "How long runs take",
            self.took.clone(),
        );
        let now = "Runs at this moment";
        registry.register(
            "controller_runtime_active_workers",
            now,
            self.active.clone(),
        );
        registry.register(
            "workqueue_depth",
            "Keys that wait for a worker",
            self.depth.clone(),
        );
        let oldest = "How long the oldest key waits";
        registry.register("workqueue_oldest_seconds", oldest, self.oldest.clone());
        let waited = "How long keys wait";
        registry.register(
            "workqueue_queue_duration_seconds",
            waited,
            self.waited.clone(),
        );
        registry.register(
            "workqueue_retries",
            "Runs after a failure",
            self.retries.clone(),
        );
        let stale = "Runs that found a cache older than their own last write";
        registry.register("stale_sync_skips", stale, self.stale.clone());
        let orphans = "Things outside the cluster that nobody declares any more";
        registry.register("external_orphans", orphans, self.orphans.clone());
        let leads = "Whether this process leads";
        registry.register("leader_election_master_status", leads, self.leads.clone());
    }
}

/// The numbers of one controller.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    sheet: Sheet,
    controller: &'static str,
}

impl Numbers {
    fn of(&self) -> Of {
        Of {
            controller: self.controller,
        }
    }

    /// A run found a cache older than its own last write.
    pub(crate) fn stale(&self) {
        self.sheet.0.stale.get_or_create(&self.of()).inc();
    }

    /// So many things outside the cluster belong to nobody who still exists.
    pub(crate) fn orphans(&self, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.sheet.0.orphans.get_or_create(&self.of()).set(count);
    }

    fn queue(&self, priority: Priority, depth: usize, oldest: Duration) {
        let of = OfQueue {
            name: self.controller,
            priority: priority.as_str(),
        };
        let depth = i64::try_from(depth).unwrap_or(i64::MAX);
        self.sheet.0.depth.get_or_create(&of).set(depth);
        self.sheet
            .0
            .oldest
            .get_or_create(&of)
            .set(oldest.as_secs_f64());
    }
}

impl Metrics for Numbers {
    fn load(&self, load: &Load) {
        let running = i64::try_from(load.running).unwrap_or(i64::MAX);
        self.sheet.0.active.get_or_create(&self.of()).set(running);
        self.queue(Priority::Change, load.changes, load.oldest_change);
        self.queue(Priority::Routine, load.routine, load.oldest_routine);
    }

    fn started(&self, reason: Reason, waited: Duration) {
        let waits = self.sheet.0.waited.get_or_create(&self.of());
        waits.observe(waited.as_secs_f64());
        if reason == Reason::Retry {
            self.sheet.0.retries.get_or_create(&self.of()).inc();
        }
    }

    fn ended(&self, ended: &Ended, took: Duration) {
        let (families, of) = (&self.sheet.0, self.of());
        let result = OfResult {
            controller: self.controller,
            result: ended.as_str(),
        };
        families.total.get_or_create(&result).inc();
        families.took.get_or_create(&of).observe(took.as_secs_f64());
        let Ended::Failed(failure) = ended else {
            return;
        };
        families.errors.get_or_create(&of).inc();
        let kind = match failure.kind {
            FailureKind::Panic => &families.panics,
            FailureKind::Timeout => &families.timeouts,
            FailureKind::Error(evenkeel_reconcile::ErrorClass::Permanent) => &families.terminal,
            FailureKind::Error(_) => return,
        };
        kind.get_or_create(&of).inc();
    }
}
