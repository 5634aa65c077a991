//! What the broker counts. Labels come from closed lists: routes, methods, status codes.

use std::fmt::Write as _;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// One kind of request and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    pub(crate) endpoint: String,
    pub(crate) method: &'static str,
    pub(crate) status: u16,
}

/// How a delivery ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct DeliveryLabels {
    pub(crate) result: &'static str,
}

/// What the broker counts.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    duration: Histogram,
    pub(crate) waiting: Gauge,
    pub(crate) agents: Gauge,
    pub(crate) change: Gauge,
    pub(crate) deliveries: Family<DeliveryLabels, Counter>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("evenkeel_broker");
        let requests = Family::default();
        let duration = Histogram::new(exponential_buckets(0.000_1, 4.0, 10));
        let (waiting, agents, change) = (Gauge::default(), Gauge::default(), Gauge::default());
        let deliveries = Family::default();
        registry.register(
            "http_requests",
            "Requests by route, method and status",
            requests.clone(),
        );
        registry.register(
            "http_request_duration_seconds",
            "How long requests took, those that wait for changes left out",
            duration.clone(),
        );
        registry.register(
            "waiting_polls",
            "Polls that wait for a change",
            waiting.clone(),
        );
        registry.register("agents", "Agents that are not deleted", agents.clone());
        registry.register(
            "change_number",
            "The newest change in memory",
            change.clone(),
        );
        registry.register(
            "webhook_deliveries",
            "Tries by how they ended",
            deliveries.clone(),
        );
        Self {
            registry,
            requests,
            duration,
            waiting,
            agents,
            change,
            deliveries,
        }
    }

    pub(crate) fn request(&self, labels: &RequestLabels, took: Option<Duration>) {
        self.requests.get_or_create(labels).inc();
        if let Some(took) = took {
            self.duration.observe(took.as_secs_f64());
        }
    }

    /// Everything, in the text form that Prometheus reads.
    pub(crate) fn shown(&self) -> String {
        let mut text = String::new();
        if text::encode(&mut text, &self.registry).is_err() {
            let _ = text.write_str("# EOF\n");
        }
        text
    }
}
