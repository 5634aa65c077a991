//! All controllers of a process: shared streams, one lease, one health page.

use std::sync::Arc;

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_lease::{Elector, LeaseName, Led, Term};
use evenkeel_reconcile::runner::Runner;
use evenkeel_vitals::{Check, Checks};
use futures::future::{join_all, select_all};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::events::v1::Event;
use kube::Client;
use prometheus_client::registry::Registry;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cache_numbers::CacheNumbers;
use crate::caches::Caches;
use crate::context::Shared;
use crate::controller::Controller;
use crate::events::Recorder;
use crate::key::ResourceId;
use crate::metrics::Sheet;
use crate::rbac::{Rights, Verb};
use crate::reconciler::Reconciler;
use crate::run::{AnyController, Ready};

/// How a manager ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Ended {
    /// It was told to stop and did, in good order.
    Stopped,
    /// It lost the lease, and all work was cut off. The process should end: nobody knows what
    /// else it was doing.
    LeaseLost,
}

/// Runs controllers that share streams and one lease.
pub struct Manager {
    client: Client,
    clock: SharedClock,
    dice: SharedRandom,
    caches: Arc<Caches>,
    controllers: Vec<Box<dyn AnyController>>,
    rights: Rights,
    elector: Option<Elector>,
    sheet: Sheet,
    streams: Option<Check>,
}

impl Manager {
    /// A manager without controllers, which counts in `registry`.
    pub fn new(
        client: Client,
        clock: SharedClock,
        dice: SharedRandom,
        registry: &mut Registry,
    ) -> Self {
        let caches = Arc::new(Caches::new(client.clone(), dice.clone()));
        registry.register_collector(Box::new(CacheNumbers(Arc::clone(&caches))));
        Self {
            caches,
            client,
            clock,
            dice,
            controllers: Vec::new(),
            rights: Rights::default(),
            elector: None,
            sheet: Sheet::register(registry),
            streams: None,
        }
    }

    /// Also runs `controller`.
    #[must_use]
    pub fn with<R: Reconciler>(mut self, mut controller: Controller<R>) -> Self {
        let runner = Runner::new(controller.settings, self.dice.clone());
        let wired = controller.wire(&self.caches, &runner.handle());
        self.rights.merge(&wired.rights);
        let shared = Shared {
            name: controller.name,
            stores: wired.stores.clone(),
            clock: self.clock.clone(),
            dice: self.dice.clone(),
            recorder: Recorder::default(),
        };
        self.controllers.push(Box::new(Ready {
            numbers: self.sheet.of(controller.name),
            runner,
            wired,
            shared: Arc::new(shared),
            client: self.client.clone(),
            controller,
        }));
        self
    }

    /// Works only while it holds `lease`, for which it stands as `process`. The streams run all
    /// the time, so that taking over takes no listing.
    #[must_use]
    pub fn under_lease(self, lease: &LeaseName, process: &str) -> Self {
        let (clock, dice) = (self.clock.clone(), self.dice.clone());
        let elector = Elector::new(self.client.clone(), lease, process, clock, dice);
        self.elected_by(elector)
    }

    /// The same with an elector of the caller's.
    #[must_use]
    pub fn elected_by(self, elector: Elector) -> Self {
        Self {
            elector: Some(elector),
            ..self
        }
    }

    /// Says in `checks` whether every kind can be followed, and if not, which and why.
    #[must_use]
    pub fn checked_in(self, checks: &Checks) -> Self {
        Self {
            streams: Some(checks.named("watches")),
            ..self
        }
    }

    /// The rights that all of it needs.
    pub fn rights(&self) -> Rights {
        let mut rights = self.rights.clone();
        rights.allow(&ResourceId::of::<Event>(), &[Verb::Create]);
        if self.elector.is_some() {
            let lease = [Verb::Get, Verb::Create, Verb::Update];
            rights.allow(&ResourceId::of::<Lease>(), &lease);
        }
        rights
    }

    /// Runs until `stop`, then drains and gives the lease back.
    pub async fn run(self, stop: CancellationToken) -> Ended {
        let mut beside: JoinSet<()> = self.caches.follow();
        if let Some(check) = self.streams {
            beside.spawn(watch_streams(self.caches.clone(), check));
        }
        let (controllers, sheet) = (self.controllers, self.sheet);
        let Some(elector) = self.elector else {
            sheet.leads(true);
            lead_all(controllers, Term::unlimited(), stop).await;
            return Ended::Stopped;
        };
        let led = elector.lead(&stop, |term| {
            sheet.leads(true);
            lead_all(controllers, term, stop.clone())
        });
        let led = led.await;
        sheet.leads(false);
        match led {
            Led::NeverLed | Led::Finished(()) => Ended::Stopped,
            Led::Lost => Ended::LeaseLost,
        }
    }
}

async fn lead_all(controllers: Vec<Box<dyn AnyController>>, term: Term, stop: CancellationToken) {
    let led = controllers
        .into_iter()
        .map(|controller| controller.lead(term.clone(), stop.clone()));
    join_all(led).await;
}

/// Keeps the check true to what the streams say.
async fn watch_streams(caches: Arc<Caches>, check: Check) {
    let mut states: Vec<_> = caches
        .all()
        .iter()
        .map(|stream| (stream.resource().clone(), stream.state()))
        .collect();
    while !states.is_empty() {
        let trouble = states.iter().filter_map(|(resource, state)| {
            let why = state.borrow().trouble()?;
            Some(format!("{resource}: {why}"))
        });
        let trouble: Vec<_> = trouble.collect();
        match trouble.as_slice() {
            [] => check.pass(),
            some => check.fail(some.join("; ")),
        }
        let changed = states
            .iter_mut()
            .map(|(_, state)| Box::pin(state.changed()));
        // The streams live as long as the caches do.
        let _ = select_all(changed).await;
    }
}

impl std::fmt::Debug for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Manager")
            .field("controllers", &self.controllers.len())
            .finish_non_exhaustive()
    }
}
